package cli

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"

	"dev.scrapetop/engine/provider"
)

const (
	maxRawBody   = 10 << 20 // bytes of a pasted body, decoded too: the engine's own default cap
	maxRawHeader = 1 << 20  // bytes of one header block
	maxRawFields = 2000
	maxRawNotes  = 20
)

// rawResponse is a response as somebody pasted it.
type rawResponse struct {
	status int
	header http.Header
	body   []byte
	fault  provider.Fault // the body can be no page: it is cut, or what it was packed in is broken
	broken string         // what is wrong with it
	notes  []string       // what was odd and how it was read
}

func (r *rawResponse) note(format string, args ...any) {
	if len(r.notes) < maxRawNotes {
		r.notes = append(r.notes, printable(fmt.Sprintf(format, args...)))
	}
}

var statusLine = regexp.MustCompile(`^(?i:HTTP)/[0-9](?:\.[0-9])?[ \t]+([0-9]{3})(?:[ \t][^\n]*)?$`)

// parseRaw reads what `curl -i` printed: a status line (HTTP/1.x, 2 or 3), fields, a blank line, the body. Line ends are
// LF or CRLF, the last may be missing. Blocks before the last response (1xx, redirects followed, a proxy's answer to
// CONNECT) are skipped. Fields keep their bytes; a folded line joins the one before.
func parseRaw(text []byte) (rawResponse, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	for len(text) > 0 && (text[0] == '\n' || text[0] == '\r' || text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	if len(text) == 0 {
		return rawResponse{}, errors.New("it is empty, pipe in what curl -si URL prints")
	}
	var skipped []string
	for {
		r, rest, err := parseBlock(text)
		if err != nil {
			return r, err
		}
		if !startsResponse(rest) || !interim(r) {
			r.body = rest
			if len(skipped) > 0 {
				r.note("%d earlier answers were skipped (%s), the last one counts", len(skipped), strings.Join(skipped, ", "))
			}
			r.settleBody()
			return r, nil
		}
		if len(skipped) < maxRawNotes {
			skipped = append(skipped, strconv.Itoa(r.status))
		}
		text = rest
	}
}

// parseBlock reads one status line and its fields; rest is what follows the blank line.
func parseBlock(text []byte) (r rawResponse, rest []byte, err error) {
	line, rest := cutLine(text)
	m := statusLine.FindSubmatch(line)
	if m == nil {
		return r, nil, fmt.Errorf("it does not start with an HTTP status line but with %s, paste the answer with its headers (curl -si URL)",
			strconv.Quote(shorten(string(line), 60)))
	}
	r.status, _ = strconv.Atoi(string(m[1])) // three digits
	r.header = http.Header{}
	start, last := len(rest), ""
	for n, fields := 2, 0; len(rest) > 0; n++ {
		line, rest = cutLine(rest)
		if len(line) == 0 {
			return r, rest, nil
		}
		if start-len(rest) > maxRawHeader {
			return r, nil, errors.New("its header is larger than 1 MiB, this is no HTTP answer")
		}
		if line[0] == ' ' || line[0] == '\t' {
			r.fold(last, line, n)
			continue
		}
		name, value, ok := bytes.Cut(line, []byte{':'})
		key := strings.TrimRight(string(name), " \t")
		if !ok || !headerName(key) {
			r.note("line %d is no header field and was ignored: %s", n, shorten(string(line), 60))
			last = ""
			continue
		}
		if fields++; fields > maxRawFields {
			last = ""
			continue
		}
		if len(key) != len(name) {
			r.note("the blank before the colon of %s was ignored", key)
		}
		last = textproto.CanonicalMIMEHeaderKey(key)
		v := strings.Trim(string(value), " \t")
		if strings.ContainsFunc(v, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			r.note("%s holds a control byte: an HTTP client refuses the whole answer as malformed, here it is read", last)
		}
		r.header[last] = append(r.header[last], v)
	}
	return r, nil, nil
}

func (r *rawResponse) fold(name string, line []byte, n int) {
	values := r.header[name]
	if name == "" || len(values) == 0 {
		r.note("line %d continues nothing and was ignored", n)
		return
	}
	values[len(values)-1] = strings.TrimSpace(values[len(values)-1] + " " + strings.Trim(string(line), " \t"))
	r.note("the folded line of %s was joined", name)
}

// cutLine takes one line off text, without its LF or CRLF.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest
}

func startsResponse(text []byte) bool {
	line, _ := cutLine(text[:min(len(text), 256)])
	return statusLine.Match(line)
}

// interim reports whether another answer may follow r: curl prints the header alone of what it goes past. An ordinary
// page that happens to begin with "HTTP/1.1 200" is a body.
func interim(r rawResponse) bool {
	if r.status < 200 || r.status >= 300 && r.status < 400 || r.status == http.StatusUnauthorized || r.status == http.StatusProxyAuthRequired {
		return true
	}
	length := r.header.Get("Content-Length")
	return r.header.Get("Content-Type") == "" && (length == "" || length == "0") && r.header.Get("Transfer-Encoding") == ""
}

// settleBody undoes chunks, cuts a body that is too long and unpacks gzip, which curl prints as it came unless asked otherwise.
func (r *rawResponse) settleBody() {
	r.settleChunks()
	length, err := strconv.ParseInt(r.header.Get("Content-Length"), 10, 64)
	packed := bytes.HasPrefix(r.body, []byte{0x1f, 0x8b})
	coded := strings.EqualFold(strings.TrimSpace(r.header.Get("Content-Encoding")), "gzip")
	if err == nil && int64(len(r.body)) < length && len(r.body) > 0 && (packed || !coded) {
		if r.status/100 == 2 && int64(len(r.body)+lostByPasting(r.body)) < length {
			r.fault, r.broken = provider.FaultTruncated, fmt.Sprintf("the body ends early, it has %d of the %d bytes that Content-Length tells", len(r.body), length)
		} else {
			r.note("the body has %d of the %d bytes that Content-Length tells: read as pasted", len(r.body), length)
		}
	}
	if len(r.body) > maxRawBody {
		r.note("only the first 10 MiB of the body were read")
		r.body = r.body[:maxRawBody]
	}
	if !coded || !packed {
		return
	}
	plain, err := unpack(r.body)
	if err != nil {
		r.body, r.fault, r.broken = nil, provider.FaultDecode, fmt.Sprintf("the gzip body could not be unpacked: %v", err)
		return
	}
	r.body = plain
}

// lostByPasting is how many bytes a clipboard or an editor may have taken from a body: a CR of each line, and a last line end.
func lostByPasting(body []byte) int { return bytes.Count(body, []byte{'\n'}) + 2 }

// beginsChunked reports one whole chunk: a page of ordinary text may begin like a size.
func beginsChunked(body []byte) bool {
	m := chunkSize.FindSubmatch(body)
	if m == nil {
		return false
	}
	size, err := strconv.ParseUint(string(m[1]), 16, 32)
	end := uint64(len(m[0])) + size
	return err == nil && end <= uint64(len(body)) && bytes.HasPrefix(body[end:], []byte("\r\n"))
}

var chunkSize = regexp.MustCompile(`^([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\n]*)?\r\n`)

// settleChunks undoes chunked framing. curl takes it away by itself (its header stays), curl --raw does not.
func (r *rawResponse) settleChunks() {
	if !strings.EqualFold(r.header.Get("Transfer-Encoding"), "chunked") || !beginsChunked(r.body) {
		return
	}
	plain, err := io.ReadAll(io.LimitReader(httputil.NewChunkedReader(bytes.NewReader(r.body)), maxRawBody+1))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.fault, r.broken = provider.FaultTruncated, "the body ends early, within a chunk"
	case err != nil:
		r.note("the body looks chunked and is not: read as it stands")
		return
	}
	r.body = plain
}

func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxRawBody+1))
	if err != nil {
		return nil, err
	}
	if len(plain) > maxRawBody {
		return nil, errors.New("it unpacks to more than 10 MiB")
	}
	return plain, nil
}
