package llm

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

func TestUnreachable(t *testing.T) {
	p := &Endpoint{Name: "fake", BaseURL: "https://models.example:8443/v1"}
	for _, c := range []struct {
		err  error
		kind ErrorKind
		has  string
	}{
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, Network, "Nothing answers at models.example:8443"},
		{&net.DNSError{Name: "models.example", IsNotFound: true}, Network, "no host models.example"},
		{&net.DNSError{Name: "models.example", IsTimeout: true, Err: "timeout"}, Network, "Cannot reach"},
		{&tls.CertificateVerificationError{Err: x509.HostnameError{Host: "models.example", Certificate: &x509.Certificate{}}}, Protocol, "certificate"},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, Protocol, "SSL_CERT_FILE"},
		{&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}, Protocol, "clock"},
		{tls.AlertError(70), Protocol, "secure connection"},
		{errors.New("Proxy Authentication Required"), Auth, "HTTPS_PROXY"},
		{errors.New("http2: server sent GOAWAY"), Network, "GOAWAY"},
	} {
		wrapped := &url.Error{Op: "Post", URL: "https://models.example:8443/v1/messages", Err: fmt.Errorf("send: %w", c.err)}
		if c.kind == Auth {
			wrapped.Err = c.err
		}
		e := p.connectError(wrapped)
		if e.Kind != c.kind || !strings.Contains(e.Message, c.has) || !errors.Is(e, c.err) {
			t.Errorf("%v: %v", c.err, e)
		}
	}
}

func TestSafe(t *testing.T) {
	if SafeID("toolu_01-A") != "toolu_01-A" || SafeName("read_file") != "read_file" {
		t.Error("changed what is fit")
	}
	seen := map[string]bool{}
	for _, id := range []string{"", "a b", strings.Repeat("x", 41), "ü", "call:1"} {
		safe := SafeID(id)
		if !isSafe(safe) || len(safe) > 40 || safe != SafeID(id) || seen[safe] {
			t.Errorf("%q: %q", id, safe)
		}
		seen[safe] = true
	}
	for _, name := range []string{"", "a b\x1b[31m", strings.Repeat("ü", 1<<19)} {
		if safe := SafeName(name); safe == "" || !isSafe(safe) || len(safe) > 64 {
			t.Errorf("%q", safe)
		}
	}
}

// FuzzClean: nothing that could steer a terminal, and no piece of the key.
func FuzzClean(f *testing.F) {
	const key = "sk-0123456789abcdef"
	f.Add("plain")
	f.Add("\x1b[31msk-01234\x1b[m56789abcdef\x1b]0;x\x07")
	f.Add("sk-0123456789abcdef" + "sk-01234567")
	p := &Endpoint{Secrets: []string{key}}
	f.Fuzz(func(t *testing.T, in string) {
		out := p.clean(in)
		for _, r := range out {
			if r < ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) {
				t.Fatalf("%q", out)
			}
		}
		for i := 0; i+maxShownKey+1 <= len(key); i++ {
			if strings.Contains(out, key[i:i+maxShownKey+1]) {
				t.Fatalf("%q", out)
			}
		}
		if e := p.NewError(Server, 0, in, "Hint."); len(e.Message) > MessageLimit {
			t.Fatalf("%d bytes", len(e.Message))
		}
	})
}

// Nobody listens at a port of this machine: that is worth two tries, not ten.
func TestUnreachable_ownMachine(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"http://" + addr, "http://localhost:" + addr[strings.LastIndex(addr, ":")+1:]} {
		c := NewClient(Endpoint{Name: "test", BaseURL: base}, nil)
		k := c.Call(t.Context())
		e := k.post("", nil)
		k.Close()
		if e == nil || e.Tries != 2 {
			t.Errorf("%s: %#v", base, e)
		}
	}
	far := &net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.IPv4(203, 0, 113, 9), Port: 443}, Err: syscall.ECONNREFUSED}
	if e := (&Endpoint{Name: "test"}).connectError(far); e.Tries != 0 || e.Kind != Network {
		t.Errorf("another machine: %#v", e)
	}
}
