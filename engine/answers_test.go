package engine

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"
)

var inEpoch = regexp.MustCompile(`@@EPOCH\+(\d+)@@`)

// TestAnswersOfTargets: every odd answer that the cases hold ends a task as the contract says, when a run meets it.
func TestAnswersOfTargets(t *testing.T) {
	s := newRough(t)
	cut := met{"transport", "transport", "truncated", "dead", "attempts", "truncated"}
	fine := met{"accepted", "", "", "accepted", "", "the run finished"}
	waits := func(event string) met { return met{"limited", "target", "429", "pending", "", event} }
	for file, want := range map[string]met{
		"100_ok":                    fine,
		"102_gzip_truncated":        cut,
		"104_length_too_long":       cut,
		"106_chunked_cut":           cut,
		"108_nul_bytes":             fine,
		"110_bidi_wide_title":       fine,
		"112_empty_200":             fine,
		"114_error_page_200":        fine,
		"116_429_html":              waits("retry-after: 7 s"),
		"118_429_skewed_date":       waits("12"),
		"120_429_control_in_header": {"transport", "transport", "protocol", "dead", "attempts", "malformed"},
		"122_429_epoch":             waits("cooling for"),
		"124_429_day":               {"limited", "target", "429", "dead", "deadline", "86400 s"},
		"126_503_no_hint":           {"failed", "target", "503", "dead", "attempts", "503"},
		"127_redirect_loop":         {"failed", "", "too many redirects", "dead", "attempts", "too many redirects"},
		"129_redirect_bad_location": {"failed", "target", "port", "dead", "attempts", "port"},
		"132_header_flood":          fine,
		"134_status_999":            {"failed", "target", "999", "dead", "attempts", "999"},
		"136_gzip_label_plain_body": {"transport", "transport", "decode: ", "dead", "attempts", "it is not gzip"},
		"138_charset_meta":          fine,
		"141_quota_window_zero":     fine,
	} {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("provider/direct/testdata", file+".http"))
			if err != nil {
				t.Fatal(err)
			}
			answer := func(c net.Conn) {
				_, _ = c.Write(inEpoch.ReplaceAllFunc(text, func(m []byte) []byte {
					n, _ := strconv.Atoi(string(inEpoch.FindSubmatch(m)[1]))
					return fmt.Append(nil, time.Now().Unix()+int64(n))
				}))
			}
			s.mu.Lock()
			s.does["/"+file] = answer
			for _, loop := range regexp.MustCompile(`(?im)^location: *(/\S*)`).FindAllSubmatch(text, -1) {
				s.does[string(loop[1])] = answer
			}
			s.mu.Unlock()
			meet(t, Config{MaxAttempts: 1, Timeout: 2 * time.Second}, "http://127.0.0.1:"+s.port+"/"+file, "http://localhost:"+s.port+"/good", want)
		})
	}
}
