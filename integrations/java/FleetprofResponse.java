// SPDX-License-Identifier: Apache-2.0
package fleetprof;

import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.LinkedHashMap;
import java.util.Map;

/** Announces the decision before the server sends the head: when the buffer is full, is flushed, or the response ends. */
final class FleetprofResponse extends HttpServletResponseWrapper {
    /** Validators, which a sampled page must not have: a header that was set cannot be taken back. */
    private final Map<String, String> validators = new LinkedHashMap<>();
    private final HttpServletRequest request;
    private final Fleetprof decider;
    private boolean isAnnounced;
    private long written;

    FleetprofResponse(HttpServletRequest request, HttpServletResponse response, Fleetprof decider) {
        super(response);
        this.request = request;
        this.decider = decider;
    }

    void announce() {
        if (isAnnounced || isCommitted()) return;
        isAnnounced = true;
        if (!decider.announce(request, (HttpServletResponse) getResponse())) validators.forEach(super::setHeader);
    }

    private void count(long bytes) {
        written += bytes;
        if (isAnnounced) return;
        String length = getHeader("Content-Length");
        if (written >= getBufferSize() || request.isAsyncStarted() || (length != null && written >= Long.parseLong(length))) announce();
    }

    private static boolean isValidator(String name) { return name.equalsIgnoreCase("ETag") || name.equalsIgnoreCase("Last-Modified"); }

    @Override public void setHeader(String name, String value) {
        if (isAnnounced || !isValidator(name)) super.setHeader(name, value);
        else validators.put(name.toLowerCase(), value);
    }

    @Override public void addHeader(String name, String value) {
        if (isValidator(name)) setHeader(name, value);
        else super.addHeader(name, value);
    }

    @Override public void setDateHeader(String name, long date) {
        if (isValidator(name)) setHeader(name, Fleetprof.date(date));
        else super.setDateHeader(name, date);
    }

    @Override public void addDateHeader(String name, long date) {
        if (isValidator(name)) setDateHeader(name, date);
        else super.addDateHeader(name, date);
    }

    @Override public String getHeader(String name) { return validators.getOrDefault(name.toLowerCase(), super.getHeader(name)); }

    @Override public void reset() {
        super.reset();
        validators.clear();
        isAnnounced = false;
        written = 0;
    }

    @Override public void flushBuffer() throws IOException {
        announce();
        super.flushBuffer();
    }

    @Override public ServletOutputStream getOutputStream() throws IOException {
        ServletOutputStream out = super.getOutputStream();
        return new ServletOutputStream() {
            @Override public void write(int one) throws IOException { count(1); out.write(one); }
            @Override public void write(byte[] bytes, int start, int length) throws IOException { count(length); out.write(bytes, start, length); }
            @Override public void flush() throws IOException { announce(); out.flush(); }
            @Override public void close() throws IOException { announce(); out.close(); }
            @Override public boolean isReady() { return out.isReady(); }
            @Override public void setWriteListener(WriteListener listener) { out.setWriteListener(listener); }
        };
    }

    @Override public PrintWriter getWriter() throws IOException {
        PrintWriter out = super.getWriter();
        return new PrintWriter(new Writer() {
            @Override public void write(char[] text, int start, int length) { count(4L * length); out.write(text, start, length); }
            @Override public void flush() { announce(); out.flush(); }
            @Override public void close() { announce(); out.close(); }
        });
    }
}
