package dashboard

import (
	"fmt"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// opener is the program that opens an address in the user's browser; why is the reason when there is none.
func opener(goos string, getenv func(string) string) (command []string, why string) {
	switch {
	case goos == "darwin":
		return []string{"open"}, ""
	case goos == "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}, ""
	case getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == "":
		return nil, "there is no desktop here to open a browser on"
	}
	return []string{"xdg-open"}, ""
}

// webAddress lets only absolute http and https addresses through: nothing else is given to another program.
func webAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", fmt.Errorf("not opened: %s is no web address", widget.Clean(address, 80))
	}
	return u.String(), nil
}

// openWithin is how long the program that opens a browser may take to fail; it goes on by itself after that.
const openWithin = 3 * time.Second

// openedMsg is how the opening went.
type openedMsg struct{ address, fault string }

// visit starts the program that opens an address. It gets the address as one argument and through no shell; what it prints is
// thrown away.
func visit(command []string, address string, after <-chan time.Time, guard func()) openedMsg {
	c := exec.Command(command[0], append(command[1:len(command):len(command)], address)...)
	if err := c.Start(); err != nil {
		return openedMsg{fault: command[0] + " cannot be started: " + err.Error()}
	}
	failed := make(chan error, 1)
	go func() {
		defer guard()
		failed <- c.Wait()
	}()
	select {
	case err := <-failed:
		if err != nil {
			return openedMsg{fault: command[0] + " could not open it: " + err.Error()}
		}
	case <-after: // it is the browser itself
	}
	return openedMsg{address: address}
}

// openAddress opens in the browser what the cursor is on.
func (m *Model) openAddress() tea.Cmd {
	address, err := webAddress(m.address())
	if err != nil {
		m.say(themes.Warn, err.Error(), "")
		return nil
	}
	command, why := opener(runtime.GOOS, m.opt.Getenv)
	if why != "" {
		m.say(themes.Dim, why, "y: copy the address")
		return nil
	}
	browse, guard := m.visit, m.crash.Guard
	m.say(themes.Text, "opening "+widget.Clean(address, 200), "")
	return func() tea.Msg { return browse(command, address, time.After(openWithin), guard) }
}

// address is what the cursor is on as an address; empty: it has none.
func (m *Model) address() string {
	switch {
	case m.tab == screen.Events:
		if e := m.browse.ChosenEvent(m.shownRows); e != nil && e.Scope == "domain" {
			return "https://" + e.Key + "/"
		}
		return ""
	case m.tab.OfRows():
		return m.browse.Address(m.shownRows, m.tab)
	case m.list.OnBudgets(m.data, m.tab) || m.row() < 0:
		return ""
	}
	return "https://" + strings.TrimSpace(m.list.Selected) + "/"
}

// noAddress tells why there is nothing to open.
func (m *Model) noAddress() string {
	if m.address() == "" {
		return "there is no web address under the cursor"
	}
	_, why := opener(runtime.GOOS, m.opt.Getenv)
	return why
}
