import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/** Reads patterns from standard input, one in Base64 on each line, and prints `accepted` or `refused` for each. */
public final class JavaPatterns {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(judged(new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8)));
        }
    }

    private static String judged(String pattern) {
        try {
            Pattern.compile(pattern);
            return "accepted";
        } catch (PatternSyntaxException error) {
            return "refused";
        }
    }
}
