import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.neo4j.cli.ExecutionContext;
import org.neo4j.commandline.admin.security.SetInitialPasswordCommand;
import org.neo4j.configuration.connectors.ConnectorPortRegister;
import org.neo4j.configuration.connectors.ConnectorType;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.io.fs.DefaultFileSystemAbstraction;
import org.neo4j.kernel.internal.GraphDatabaseAPI;
import picocli.CommandLine;

/**
 * Neo4j servers in one process, told what to do on its input, a line a command, words parted by tabs:
 * "open HOME PASSWORD" starts a server with the settings in HOME/conf/neo4j.conf and answers "ready PORT" (of Bolt);
 * "close HOME" stops it and answers "closed"; what fails answers "failed REASON". The end of the input stops all servers.
 */
final class Server {
    private static final PrintStream ANSWERS = System.out;
    private static final PrintStream SILENT = new PrintStream(OutputStream.nullOutputStream());
    private static final Map<Path, DatabaseManagementService> OPEN = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err); // what libraries print is no answer
        var commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            ANSWERS.println(answer(line.split("\t")));
            ANSWERS.flush();
        }
        OPEN.values().forEach(DatabaseManagementService::shutdown);
        System.exit(0);
    }

    private static String answer(String[] words) {
        try {
            Path home = Path.of(words[1]);
            if (words[0].equals("open")) {
                return "ready\t" + open(home, words[2]);
            }
            OPEN.remove(home).shutdown();
            return "closed";
        } catch (Exception failure) {
            failure.printStackTrace();
            Throwable cause = failure;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return "failed\t" + (cause.getClass().getSimpleName() + ": " + cause.getMessage()).replaceAll("\\s+", " ");
        }
    }

    private static int open(Path home, String password) {
        Path configuration = home.resolve("conf");
        boolean fresh = !Files.exists(home.resolve("data/databases"));
        if (fresh) { // before Bolt listens, so that the well-known first password never works
            var context = new ExecutionContext(
                    home, configuration, SILENT, System.err, new DefaultFileSystemAbstraction());
            var setter = new SetInitialPasswordCommand(context);
            var command = new CommandLine(setter).setExpandAtFiles(false);
            if (command.execute("--", password) != 0) { // a password may begin with - or @
                throw new IllegalArgumentException("Neo4j refused the password");
            }
        }
        DatabaseManagementService server = new DatabaseManagementServiceBuilder(home)
                .loadPropertiesFromFile(configuration.resolve("neo4j.conf"))
                .build();
        OPEN.put(home, server);
        var system = (GraphDatabaseAPI) server.database("system");
        if (!fresh) { // two steps, as Neo4j refuses a password that is the present one
            for (String next : new String[] {UUID.randomUUID().toString(), password}) {
                system.executeTransactionally(
                        "ALTER USER neo4j SET PASSWORD $next CHANGE NOT REQUIRED", Map.of("next", next));
            }
        }
        var bolt = system.getDependencyResolver()
                .resolveDependency(ConnectorPortRegister.class)
                .getLocalAddress(ConnectorType.BOLT);
        if (bolt == null) {
            throw new IllegalStateException("Neo4j runs without Bolt");
        }
        return bolt.getPort();
    }
}
