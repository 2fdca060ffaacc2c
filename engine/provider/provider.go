package provider

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"dev.scrapetop/engine/limits"
)

// Kind is what a call is for.
type Kind string

// The kinds of call, as in the attempts view.
const (
	Submit Kind = "submit" // hands one or several tasks to a platform, sync or async
	Fetch  Kind = "fetch"  // direct: gets the page itself
	Poll   Kind = "poll"   // asks for (and may collect) a remote job
	Probe  Kind = "probe"  // the single call after a cooldown; built like the submit or fetch it stands for
	Lookup Kind = "lookup" // robots.txt, a sitemap, health, a search for a lost submit
)

// Outcome is how a call ended for a task (CONTRACT section 7).
type Outcome string

// The outcomes.
const (
	Accepted       Outcome = "accepted"
	Invalid        Outcome = "invalid"
	Limited        Outcome = "limited"
	Busy           Outcome = "busy"
	Blocked        Outcome = "blocked"
	Denied         Outcome = "denied"
	NotFound       Outcome = "not_found"
	Refused        Outcome = "refused"
	Failed         Outcome = "failed"
	Transport      Outcome = "transport"
	AcceptedRemote Outcome = "accepted_remote"
	StillRunning   Outcome = "still_running"
	Lost           Outcome = "lost"
	TooLarge       Outcome = "too_large"  // the body decodes to more than the cap; final
	Redirected     Outcome = "redirected" // direct: the task goes on at Item.Location, as a call of that host
)

// Layer is who said no.
type Layer string

// The layers. NoLayer is an answer that refused nothing.
const (
	NoLayer        Layer = ""
	LayerAccount   Layer = "account"
	LayerRate      Layer = "rate"
	LayerPending   Layer = "pending"
	LayerCapacity  Layer = "capacity"
	LayerQuota     Layer = "quota"
	LayerAuth      Layer = "auth"
	LayerTarget    Layer = "target"
	LayerTransport Layer = "transport"
)

// Target is one task as a call sees it.
type Target struct {
	Task int64
	URL  string // what to fetch now: the task's URL, or where a redirect led
	Home string // hostname of the task's own URL, without the port: configured headers go to it alone
}

// Call is one thing asked of a provider, for one or several tasks.
type Call struct {
	ID         uint64 // unique in the process; the exchange id in attempts is made from it
	Kind       Kind
	For        Kind // for a Probe: the kind it stands for; otherwise equal to Kind
	Targets    []Target
	Domain     string // of Targets[0]; empty for a batch over several
	Credential string // the credential's name; empty for direct
	Job        string // remote job id, for polls, and for a lookup of what one job holds
	Page       int    // of a lookup that comes in pages, from 1; 0 is the first
	Sync       bool   // of a submit: in its synchronous form, whatever the provider was made for (Facts.SyncToo)
	Sent       time.Time
}

// As is what a call is built and read as: a probe like what it stands for.
func (c Call) As() Kind {
	if c.Kind == Probe {
		return c.For
	}
	return c.Kind
}

// Request is the HTTP request of a call.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
	// Documents is how many pages the answer may hold, each as long as one page may be; zero: one.
	Documents int
}

// Fault is why there is no whole response.
type Fault string

// The faults a transport reports.
const (
	NoFault        Fault = ""
	FaultDNS       Fault = "dns"
	FaultConnect   Fault = "connect"
	FaultTLS       Fault = "tls"
	FaultTimeout   Fault = "timeout"
	FaultReset     Fault = "reset"     // closed or reset before a whole response
	FaultTruncated Fault = "truncated" // the body ended early
	FaultDecode    Fault = "decode"    // content-encoding could not be undone
	FaultTooLarge  Fault = "too_large" // the decoded body passed the cap
	FaultProtocol  Fault = "protocol"  // not HTTP as Go's client reads it
	FaultForbidden Fault = "forbidden" // an address that the manners refuse: a public name that leads to a private one
	FaultCancelled Fault = "cancelled" // abandoned by us
)

// Response is what the transport brings back. With a Fault, Status and Header may still be set (headers arrived).
type Response struct {
	Status   int
	Header   http.Header
	Body     []byte // decoded
	Received time.Time
	Elapsed  time.Duration
	Fault    Fault
	Sent     bool   // bytes of the request may have reached the server
	Error    string // redacted, one line; empty without a Fault
	Bytes    int64  // bytes on the wire of the body
}

// Page is a fetched document, not yet validated.
type Page struct {
	Body        []byte
	ContentType string
	FinalURL    string
	Status      limits.Opt[int] // the target's HTTP status, where it is told
	Header      http.Header     // the target's own headers; nil behind a platform that hides them
}

// Item is what a call meant for one of its tasks.
//
// A task has one Item, unless one job brings several documents for it (a platform's crawl of a site). Then every Item with
// a Part is one record of the task: Accepted, with its Page, to be validated and stored on its own, under the task and its
// Part; a Part that fails validation is left out and settles nothing. The task's last Item has no Part and no Page: it
// alone settles the task. Accepted there means that at least one Part came; with any other outcome the Parts that did
// come are records all the same, and the task goes on as its outcome says. Credits are on the last Item alone.
type Item struct {
	Task     int64
	Part     string // identity of a document within its task: its URL; empty for the Item that settles the task
	Outcome  Outcome
	Layer    Layer
	Target   limits.Opt[int] // target's HTTP status
	Signal   limits.Signal   // what the target said, when Layer is target
	Page     *Page           // with Accepted; nil where Parts hold the documents
	Location string          // with Redirected: absolute, normalised by the receiver
	Credits  float64
	Error    string // redacted, one line
}

// Reply is the reading of one response: the call's own outcome and one Item per task it settles.
//
// The call's Outcome and Layer speak of the platform (or, for direct, of the target); an Item's of its task. A platform
// that answered well while the target said 429 is Accepted without a layer at the call and Limited/target at the item.
type Reply struct {
	Outcome    Outcome
	Layer      Layer
	HTTPStatus limits.Opt[int]
	Signal     limits.Signal
	Job        string        // with AcceptedRemote: the remote job to poll
	PollAfter  time.Duration // with AcceptedRemote, StillRunning: least time to the next poll; zero: the provider's default
	Started    bool          // with StillRunning: the work has begun, it waits in no queue of the platform any more
	Done       int           // with StillRunning: how many of the job's targets have ended already; zero also where it is not told
	Items      []Item        // empty when the call settled nothing (refused, still running, no answer)
	Credits    float64
	Balance    limits.Opt[float64] // credits that the account has left, where the platform tells
	Unknown    bool                // a paid submit that may have been carried out although no answer came
	// Astray: what answered is not the platform. Until the platform has spoken once the base URL is in doubt, and nothing is
	// to be gained by asking on; later it was a fault of somebody in between.
	Astray bool
	Split  bool // with Refused or TooLarge, of several tasks: nothing tells which of them is meant, so each is to be asked for alone
	Found  []Found
	More   bool        // with Found: the next Page of the lookup may hold more
	Told   http.Header // what the body tells that other answers tell in a header, which is missing: kept with the attempt like it
	Error  string
	Notes  []string
}

// Found is a remote job that may be a submit whose answer was lost, as a Lookup tells.
//
// A Lookup that carries the lost submit's Targets brings the jobs that can be it by their URLs, or by their number where
// the platform's list does not name URLs. The caller leaves out jobs that it knows and those created before the submit.
// One without URLs is asked about once more, by a Lookup of its Job with the same Targets: it is in that Reply's Found only
// if it holds every one of them. What is left is the lost job, and is polled by its id like one that was handed over.
type Found struct {
	Job     string
	URLs    []string  // as the platform spells them; empty: not told
	Created time.Time // by the platform's clock; zero: not told
}

// JobKind is a kind of remote job that the platform counts on its own.
type JobKind struct {
	Name string // what its ids start with, up to the slash ("batch" in "batch/b-1"); empty: ids have no kind
	// Pending is how many jobs of the kind may wait at the platform for an account, 0: no limit is known. A job counts until
	// it has ended: whether running ones count is not told.
	Pending int
}

// Facts are the fixed properties of a provider (its sheet) that scheduling needs.
type Facts struct {
	Paid         bool          // a submit costs money: intents are committed before its bytes leave
	Polls        bool          // it hands work over and is polled
	AccountScope string        // the budget an `account` refusal cools: "credential" or "account"
	FreeSlots    bool          // its headers tell free slots
	SlotLease    time.Duration // how long the platform may count a dropped request as running
	Retention    time.Duration // how long a remote job's result can be read, from its submit
	MinGap       time.Duration // least time between starts of a credential
	Timeout      time.Duration // default for one exchange
	PollFirst    time.Duration // first poll after the hand-over
	PollMax      time.Duration // growth of the poll interval ends here
	DefaultWait  time.Duration // wait of a refusal that announced none, zero: own backoff
	BusyWait     time.Duration // wait of a `busy` of the platform that announced none, zero: own backoff
	WorstCredits float64       // most that one submit may cost for each of its tasks, with the configured options

	BatchMax   int           // tasks that one submit may carry; 0 and 1: one
	Single     JobKind       // what a submit of one task becomes
	Batch      JobKind       // what a submit of several becomes
	RateLimit  int           // requests that one address may make within RateWindow, 0: none is known
	RateWindow time.Duration // its length
	PollsCount bool          // polls and lookups draw on RateLimit like submits
	NoStatus   bool          // the target's HTTP status is never told: what it refused is read from texts alone
	SyncToo    bool          // submits are asynchronous, and a Call with Sync makes one that is not
	FindsLost  bool          // a submit without an answer can be searched for (Found)
}

// Provider turns calls into requests and responses into replies. Implementations are pure: no I/O, no clock, no state;
// safe for concurrent use.
type Provider interface {
	Name() string
	Facts() Facts
	// Profile is how the platform's limit fields are to be read.
	Profile() limits.Profile
	// Request builds the HTTP request of a call. key is the credential's secret, empty for direct.
	Request(c Call, key string) (Request, error)
	// Read says what a response means for the call and its tasks.
	Read(c Call, r Response) Reply
}

// BaseURL checks the address that a platform is reached at and returns it without a slash at its end; text empty: otherwise.
// Its errors name the provider and never the address, which may carry a secret.
func BaseURL(name, text, otherwise string) (string, error) {
	u, err := url.Parse(cmp.Or(text, otherwise))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return "", fmt.Errorf("%s: the base URL must be http(s)://HOST[:PORT][/PATH], without credentials or a query", name)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// CheckKey refuses a key that could not travel in a header. The key is never part of the error.
func CheckKey(name, key string) error {
	if key == "" {
		return fmt.Errorf("%s: the credential has no key", name)
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] >= 0x7f {
			return fmt.Errorf("%s: the credential's key holds blanks or characters that no key has", name)
		}
	}
	return nil
}

// CheckFields refuses request fields that are not the user's to give: keys, by whatever name, and those in own, which hold
// the task's URL. Fields must be able to travel as JSON.
func CheckFields(name string, fields map[string]any, own ...string) error {
	for field := range fields {
		switch lower := strings.ToLower(field); {
		case lower == "api_key", lower == "apikey", lower == "x-api-key":
			return fmt.Errorf("%s: the field %s is refused: a key comes from key_env, key_file or key_command alone", name, field)
		case slices.Contains(own, lower):
			return fmt.Errorf("%s: the field %s is refused: it is the task's own", name, field)
		}
	}
	if _, err := json.Marshal(fields); err != nil {
		return fmt.Errorf("%s: the request fields cannot be sent: %w", name, err)
	}
	return nil
}

// ValidJob reports whether a platform's id can stand as one path segment.
func ValidJob(id string) bool {
	return id != "" && id != "." && id != ".." && len(id) <= 256
}
