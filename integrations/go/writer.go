// SPDX-License-Identifier: Apache-2.0

package fleetprof

import (
	"bufio"
	"net"
	"net/http"
)

// A Writer announces the decision when the response's head is written: with its first bytes, or at its end.
type Writer struct {
	http.ResponseWriter
	decider *Decider
	request http.Header
	status  int // 0 before WriteHeader
	isSent  bool
}

// WriteHeader keeps the status: the type of the response may only be known with its first bytes.
func (w *Writer) WriteHeader(status int) {
	if status >= 100 && status < 200 {
		w.isSent = w.isSent || status == http.StatusSwitchingProtocols
		w.ResponseWriter.WriteHeader(status)
	} else if w.status == 0 {
		w.status = status
	}
}

// Close writes the head of a response without a body.
func (w *Writer) Close() { w.send() }

func (w *Writer) send() {
	if w.isSent {
		return
	}
	w.isSent = true
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.announce()
	w.ResponseWriter.WriteHeader(w.status)
}

func (w *Writer) Write(bytes []byte) (int, error) {
	header := w.Header()
	if _, has := header["Content-Type"]; !w.isSent && !has && header.Get("Content-Encoding") == "" && len(bytes) > 0 {
		header.Set("Content-Type", http.DetectContentType(bytes)) // as net/http would, after the decision
	}
	w.send()
	written, err := w.ResponseWriter.Write(bytes)
	if w.decider.FlushesParts && header.Get("Content-Length") == "" {
		w.Flush()
	}
	return written, err
}

// Flush is of http.Flusher.
func (w *Writer) Flush() {
	w.send()
	if flusher, can := w.ResponseWriter.(http.Flusher); can {
		flusher.Flush()
	}
}

// Hijack is of http.Hijacker: what takes the connection over writes its own head.
func (w *Writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	hijacker, can := w.ResponseWriter.(http.Hijacker)
	if !can {
		return nil, nil, http.ErrNotSupported
	}
	w.isSent = true
	return hijacker.Hijack()
}

// Unwrap is of http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
