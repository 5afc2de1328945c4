// SPDX-License-Identifier: Apache-2.0

package fleetprof

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

// RFC 9651, section 4.2: a dictionary's members.
const (
	item       = `(?:-?\d{1,12}\.\d{1,3}|-?\d{1,15}|"(?:[ !#-\[\]-~]|\\["\\])*"|[A-Za-z*][\w!#$%&'*+.^|~:/\x60-]*|:[A-Za-z0-9+/=]*:|\?[01]|@-?\d{1,15}|%"(?:[ !#$&-~]|%[0-9a-f]{2})*")`
	name       = `[a-z*][a-z0-9_.*-]*`
	parameters = `(?:; *` + name + `(?:=` + item + `)?)*`
	list       = `\( *(?:` + item + parameters + `(?: +` + item + parameters + `)* *)?\)`
)

var (
	member       = regexp.MustCompile(`^(` + name + `)(?:=(` + item + `|` + list + `))?` + parameters + `(?:[ \t]*(,)[ \t]*|$)`)
	pageType     = regexp.MustCompile(`(?i)^\s*(?:text/html|application/xhtml\+xml)\s*(?:;|$)`)
	token        = regexp.MustCompile(`^[A-Za-z*]`)
	positive     = regexp.MustCompile(`^"?0*[1-9]`)
	otherControl = regexp.MustCompile(`^Surrogate-Control$|.-Cache-Control$`)
	ourMetric    = regexp.MustCompile("^\\s*fleetprof(?:$|[^\\w!#$%&'*+.^|~`-])")
)

// members returns the last value of each key; false if browsers would drop the text.
func members(text string) (map[string]string, bool) {
	found, comma := map[string]string{}, ""
	for text = strings.Trim(text, " "); text != ""; {
		parts := member.FindStringSubmatch(text)
		if parts == nil {
			return nil, false
		}
		found[parts[1]], text, comma = parts[2], text[len(parts[0]):], parts[3]
		if parts[2] == "" {
			found[parts[1]] = "?1"
		}
	}
	return found, comma == ""
}

// split cuts at commas outside of quotes. Traefik's interpreter wants one assignment at a time.
func split(text string) []string {
	parts, start, quoted := []string{}, 0, false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			quoted = !quoted
		case text[i] == '\\' && quoted:
			i++
		case text[i] == ',' && !quoted:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// isShared says whether shared caches may store what has this Cache-Control, and Expires.
func isShared(control, expires string) bool {
	said := map[string]string{}
	for _, part := range split(control) {
		directive, argument, _ := strings.Cut(part, "=")
		directive, argument = strings.ToLower(strings.TrimSpace(directive)), strings.TrimSpace(argument)
		if directive == "private" && argument != "" {
			directive = "private of some fields"
		}
		said[directive] = argument
	}
	has := func(directive string) bool { _, found := said[directive]; return found }
	date, err := http.ParseTime(expires)
	fresh := positive.MatchString(said["max-age"]) || (!has("max-age") && err == nil && date.After(time.Now()))
	return !has("no-store") && (has("public") || has("s-maxage") || (fresh && !has("private")))
}

func isCacheable(header http.Header) bool {
	for field, lines := range header {
		if otherControl.MatchString(field) && isShared(strings.Join(lines, ","), "") {
			return true
		}
	}
	return isShared(strings.Join(header["Cache-Control"], ","), header.Get("Expires"))
}

// isDocument says whether the response is a document or a worker's script.
func isDocument(status int, contentType string, request http.Header) bool {
	destination := request.Get("Sec-Fetch-Dest")
	if pageType.MatchString(contentType) || destination == "worker" || destination == "sharedworker" || status != 304 || contentType != "" {
		return pageType.MatchString(contentType) || destination == "worker" || destination == "sharedworker"
	}
	accepts := false
	for _, one := range split(strings.Join(request["Accept"], ",")) {
		accepts = accepts || pageType.MatchString(one)
	}
	isEmpty := destination == "" || destination == "empty"
	return request.Get("Sec-Fetch-Mode") == "navigate" || (isEmpty && accepts) || strings.Contains(" document iframe frame embed object ", " "+destination+" ")
}
