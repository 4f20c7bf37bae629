import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.Configuration;

/** Prints for each line of a file, a login in Base64, how many login modules Kafka reads; -1 if it refuses the login. */
public class JaasLogins {
    public static void main(String[] arguments) throws Exception {
        Class<?> kind = Class.forName("org.apache.kafka.common.security.JaasConfig");
        Constructor<?> made = kind.getDeclaredConstructor(String.class, String.class);
        made.setAccessible(true);
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String login = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            System.out.println(modules(made, login));
        }
    }

    private static int modules(Constructor<?> made, String login) {
        try {
            AppConfigurationEntry[] found =
                ((Configuration) made.newInstance("x", login)).getAppConfigurationEntry("x");
            return found.length;
        } catch (ReflectiveOperationException refused) {
            return -1;
        }
    }
}
