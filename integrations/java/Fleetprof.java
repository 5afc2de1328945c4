// SPDX-License-Identifier: Apache-2.0
package fleetprof;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * fleetprof for servlets of Jakarta EE 9 or later (Tomcat, Jetty, Spring Boot 3). The contract: docs/decision.md. The first filter, in
 * web.xml with asynchronous support, or in Spring Boot:
 *
 *     @Bean @Order(Ordered.HIGHEST_PRECEDENCE)
 *     Filter fleetprof() throws Exception { return new Fleetprof(0.001, "shop", "/etc/fleetprof/token.key"); }
 *
 * Its parameters, also in web.xml (rate, site, keyFile): the share of page loads that are sampled, from 0 to 1; the site's name in the
 * collector's configuration; the file whose first key signs tokens. Without a file, pages carry none.
 */
public final class Fleetprof implements Filter {
    private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH);
    private FleetprofToken token;

    /** For web.xml, whose parameters init reads. */
    public Fleetprof() { }

    public Fleetprof(double rate, String site, String keyFile) throws IOException { token = new FleetprofToken(rate, site, keyFile); }

    @Override public void init(FilterConfig config) throws ServletException {
        if (token != null) return;
        String rate = Objects.requireNonNullElse(config.getInitParameter("rate"), "");
        try {
            if (!rate.matches("[0-9.]+")) throw new IllegalArgumentException("fleetprof: rate \"" + rate + "\" is not a number");
            token = new FleetprofToken(Double.parseDouble(rate), config.getInitParameter("site"), config.getInitParameter("keyFile"));
        } catch (IOException | IllegalArgumentException exception) {
            throw new ServletException(exception);
        }
    }

    @Override public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain) throws IOException, ServletException {
        FleetprofResponse decided = new FleetprofResponse((HttpServletRequest) request, (HttpServletResponse) response, this);
        HttpServletRequest asked = new HttpServletRequestWrapper((HttpServletRequest) request) {
            @Override public AsyncContext startAsync() { return startAsync(this, decided); } // else the page would go around the decision
        };
        chain.doFilter(asked, decided);
        if (!request.isAsyncStarted()) decided.announce();
    }

    static String date(long milliseconds) { return DATE.format(Instant.ofEpochMilli(milliseconds).atOffset(ZoneOffset.UTC)); }

    /** Changes the fields of a response; returns true if the page is sampled, and is to have no validators. */
    boolean announce(HttpServletRequest request, HttpServletResponse response) {
        int status = response.getStatus();
        Collection<String> said = response.getHeaders("Document-Policy");
        String type = Objects.requireNonNullElse(response.getContentType(), "");
        if (status == 304 ? said.isEmpty() : status < 200 || status > 299) return false;
        if (!FleetprofDecision.isDocument(status, type, request::getHeader)) return false;
        boolean isCacheable = FleetprofDecision.isShared(String.join(",", response.getHeaders("Cache-Control")), response.getHeader("Expires"))
            || response.getHeaderNames().stream().filter(name -> name.matches("(?i)surrogate-control|.+-cache-control"))
                .anyMatch(name -> FleetprofDecision.isShared(String.join(",", response.getHeaders(name)), null));
        boolean isProfiled = token.draw() && !isCacheable;
        String text = String.join(", ", said);
        String policy = (text.isEmpty() ? "" : text + ", ") + (isProfiled ? "js-profiling, js-profiling-mode=lazy" : "js-profiling=?0");
        Map<String, String> own = policy.length() <= 4096 ? FleetprofDecision.members(text) : null;
        if (own != null && ("?1".equals(own.get("js-profiling")) || own.getOrDefault("js-profiling-mode", "").matches("[A-Za-z*].*"))) return false;
        if (own != null && !own.containsKey("js-profiling") && !own.containsKey("js-profiling-mode")) response.setHeader("Document-Policy", policy);
        else isProfiled = false;
        List<String> timings = response.getHeaders("Server-Timing").stream().map(FleetprofDecision::others).filter(line -> !line.isEmpty()).toList();
        response.setHeader("Server-Timing", "fleetprof;desc=\"" + (isProfiled ? token.sign() : "0") + "\"");
        timings.forEach(line -> response.addHeader("Server-Timing", line));
        return isProfiled && status != 304;
    }
}
