// SPDX-License-Identifier: Apache-2.0
import fleetprof.Fleetprof;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

/**
 * The application of the conformance test in Tomcat: a servlet that answers as the one in JavaScript does.
 *
 *     Application PORT APPLICATION FOLDER [PART RATE SITE KEY_FILE]...
 *
 * KEY_FILE: - for none. RATE: web.xml gives SITE to the filter as web.xml gives a rate.
 */
public final class Application extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final transient String application;

    private Application(String application) { this.application = application; }

    @Override protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String page = request.getRequestURI().replaceFirst("^.*/", "");
        if (List.of("broken", "late", "long", "asynchronous").contains(page)) {
            writePage(page, request, response);
            return;
        }
        HttpResponse<byte[]> answer;
        try {
            HttpRequest asked = HttpRequest.newBuilder(URI.create(application + request.getRequestURI())).method(request.getMethod(), HttpRequest.BodyPublishers.noBody()).build();
            answer = CLIENT.send(asked, HttpResponse.BodyHandlers.ofByteArray());
        } catch (InterruptedException exception) {
            throw new IOException(exception);
        }
        response.setStatus(answer.statusCode());
        for (Map.Entry<String, List<String>> field : answer.headers().map().entrySet()) {
            if (List.of("connection", "keep-alive", "content-length", "transfer-encoding").contains(field.getKey())) continue;
            for (String value : field.getValue()) response.addHeader(field.getKey(), value);
        }
        if (request.getRequestURI().startsWith("/none/")) response.getWriter().write(new String(answer.body()));
        else response.getOutputStream().write(answer.body());
    }

    /** Writes a page as its name says. */
    private static void writePage(String page, HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/html");
        response.setDateHeader("Last-Modified", 0);
        if (page.equals("asynchronous")) {
            AsyncContext context = request.startAsync();
            context.start(() -> {
                try {
                    context.getResponse().getWriter().write("a page");
                    context.complete();
                } catch (IOException exception) {
                    throw new UncheckedIOException(exception);
                }
            });
            return;
        }
        response.getWriter().write("half a page");
        if (page.equals("broken")) throw new IllegalStateException("the page broke");
        if (page.equals("late")) response.addHeader("Document-Policy", "a");
        if (page.equals("long")) response.getWriter().write("x".repeat(100_000));
    }

    private static void add(Context context, String part, Filter filter, Map<String, String> parameters) {
        FilterDef definition = new FilterDef();
        definition.setFilterName(part);
        definition.setFilter(filter);
        parameters.forEach(definition::addInitParameter);
        definition.setAsyncSupported("true");
        context.addFilterDef(definition);
        FilterMap map = new FilterMap();
        map.setFilterName(part);
        map.addURLPattern("/" + part + "/*");
        context.addFilterMap(map);
    }

    public static void main(String[] args) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(args[2]);
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(Integer.parseInt(args[0]));
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        tomcat.getConnector().setProperty("maxHttpResponseHeaderSize", "65536");
        Context context = tomcat.addContext("", args[2]);
        Tomcat.addServlet(context, "application", new Application(args[1])).setAsyncSupported(true);
        context.addServletMappingDecoded("/*", "application");
        for (int i = 3; i < args.length; i += 4) {
            if (args[i + 1].equals("web.xml")) add(context, args[i], new Fleetprof(), Map.of("rate", args[i + 2]));
            else add(context, args[i], new Fleetprof(Double.parseDouble(args[i + 1]), args[i + 2], args[i + 3].equals("-") ? null : args[i + 3]), Map.of());
        }
        tomcat.start();
        if (!context.getState().isAvailable()) System.exit(1);
        tomcat.getServer().await();
    }
}
