// SPDX-License-Identifier: Apache-2.0
package fleetprof;

import java.time.DateTimeException;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what responses say of documents, policies and caches. The contract: docs/decision.md. */
final class FleetprofDecision {
    // RFC 9651, section 4.2: a dictionary's members.
    private static final String ITEM = "(?:-?\\d{1,12}\\.\\d{1,3}|-?\\d{1,15}|\"(?:[ !#-\\[\\]-~]|\\\\[\"\\\\])*+\""
        + "|[A-Za-z*][\\w!#$%&'*+.^|~:/`-]*+|:[A-Za-z0-9+/=]*+:|\\?[01]|@-?\\d{1,15}|%\"(?:[ !#$&-~]|%[0-9a-f]{2})*+\")";
    private static final String KEY = "[a-z*][a-z0-9_.*-]*+";
    private static final String PARAMETERS = "(?:; *" + KEY + "(?:=" + ITEM + ")?)*+";
    private static final Pattern MEMBER = Pattern.compile("\\G(" + KEY + ")(?:=(" + ITEM + "|\\( *(?:" + ITEM + PARAMETERS
        + "(?: +|(?=\\))))*+\\)))?" + PARAMETERS + "(?:[ \\t]*(,)[ \\t]*|$)");
    private static final Pattern PAGE = Pattern.compile("\\s*(?:text/html|application/xhtml\\+xml)\\s*(?:;.*)?", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    private static final Pattern OURS = Pattern.compile("\\s*fleetprof(?![\\w!#$%&'*+.^|~`-]).*", Pattern.DOTALL);

    private FleetprofDecision() { }

    /** Returns the last value of each key; null if browsers would drop the text. */
    static Map<String, String> members(String text) {
        Map<String, String> found = new HashMap<>();
        String rest = text.replaceAll("^ +| +$", "");
        Matcher member = MEMBER.matcher(rest);
        int end = 0;
        boolean isOpen = false;
        while (end < rest.length() && member.find()) {
            found.put(member.group(1), member.group(2) == null ? "?1" : member.group(2));
            end = member.end();
            isOpen = member.group(3) != null;
        }
        return end == rest.length() && !isOpen ? found : null;
    }

    /** Splits at commas outside of quotes. */
    static List<String> split(String text) {
        List<String> parts = new ArrayList<>();
        boolean isQuoted = false;
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            char one = text.charAt(i);
            if (one == '"') isQuoted = !isQuoted;
            else if (one == '\\' && isQuoted) i++;
            else if (one == ',' && !isQuoted) {
                parts.add(text.substring(start, i));
                start = i + 1;
            }
        }
        parts.add(text.substring(start));
        return parts;
    }

    /** May shared caches store what has this Cache-Control, and Expires? */
    static boolean isShared(String control, String expires) {
        Map<String, String> said = new HashMap<>();
        for (String part : split(control)) {
            String[] pair = part.split("=", 2);
            String argument = pair.length > 1 ? pair[1].trim() : "";
            said.put(pair[0].trim().toLowerCase() + (pair[0].trim().equalsIgnoreCase("private") && !argument.isEmpty() ? "=" : ""), argument);
        }
        String age = said.get("max-age");
        boolean isFresh = age == null ? isAhead(expires) : age.matches("\"?0*[1-9].*");
        return !said.containsKey("no-store") && (said.containsKey("public") || said.containsKey("s-maxage") || (isFresh && !said.containsKey("private")));
    }

    private static boolean isAhead(String date) {
        try {
            return date != null && ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).isAfter(ZonedDateTime.now());
        } catch (DateTimeException exception) {
            return false;
        }
    }

    /** Is the response a document or a worker's script? ask returns a field of the request, or null. */
    static boolean isDocument(int status, String type, Function<String, String> ask) {
        String destination = ask.apply("Sec-Fetch-Dest") == null ? "" : ask.apply("Sec-Fetch-Dest");
        if (PAGE.matcher(type).matches() || List.of("worker", "sharedworker").contains(destination)) return true;
        if (status != 304 || !type.isEmpty()) return false;
        if ("navigate".equals(ask.apply("Sec-Fetch-Mode"))) return true;
        if (!destination.isEmpty() && !destination.equals("empty")) return List.of("document", "iframe", "frame", "embed", "object").contains(destination);
        return split(ask.apply("Accept") == null ? "" : ask.apply("Accept")).stream().anyMatch(range -> PAGE.matcher(range).matches());
    }

    /** Returns a line of Server-Timing without our metrics: empty if nothing else is left. */
    static String others(String line) {
        List<String> all = split(line);
        List<String> others = all.stream().filter(metric -> !OURS.matcher(metric).matches()).toList();
        return others.size() == all.size() ? line : String.join(",", others).trim();
    }
}
