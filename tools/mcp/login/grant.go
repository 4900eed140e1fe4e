package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/oauth2"

	"fantail/tools/ownfile"
)

// renewsWithin is what renewing a token may take.
const renewsWithin = 30 * time.Second

// grant is what a login gave, with who gave it: a token is renewed where it came from, and nowhere else. Without Access
// nothing was given.
type grant struct {
	Resource string           `json:"resource"` // the server's address
	TokenURL string           `json:"token_url"`
	Client   string           `json:"client"`
	Secret   string           `json:"secret,omitempty"`
	Style    oauth2.AuthStyle `json:"style,omitempty"`
	Scopes   []string         `json:"scopes,omitempty"`
	Access   string           `json:"access"`
	Refresh  string           `json:"refresh,omitempty"`
	Expiry   time.Time        `json:"expiry,omitzero"`
}

// granted is what a login gave.
func granted(resource string, c *oauth2.Config, t *oauth2.Token) *grant {
	return &grant{
		Resource: resource, TokenURL: c.Endpoint.TokenURL, Client: c.ClientID, Secret: c.ClientSecret, Style: c.Endpoint.AuthStyle, Scopes: c.Scopes,
		Access: t.AccessToken, Refresh: t.RefreshToken, Expiry: t.Expiry,
	}
}

func (g *grant) host() string {
	u, err := url.Parse(g.TokenURL)
	if err != nil {
		return g.TokenURL
	}
	return u.Host
}

// renew asks who gave it for the next one.
func (g *grant) renew(ctx context.Context) (*grant, error) {
	c := &oauth2.Config{ClientID: g.Client, ClientSecret: g.Secret, Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.Style}}
	t, err := c.TokenSource(ctx, &oauth2.Token{RefreshToken: g.Refresh}).Token()
	if err != nil {
		return nil, err
	}
	next := *g
	next.Access, next.Expiry = t.AccessToken, t.Expiry
	if t.RefreshToken != "" {
		next.Refresh = t.RefreshToken
	}
	return &next, nil
}

// file is where the grant of one server is kept.
type file struct{ dir, resource string }

// most is how much such a file holds at most, in bytes.
const most = 1 << 20

func (f file) path() string {
	sum := sha256.Sum256([]byte(f.resource))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:12])+".json")
}

// lock keeps other processes from renewing the same grant.
func (f file) lock(ctx context.Context) (open func(), err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(f.path()+".lock", flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil
}

// read is what is kept; an empty grant if nothing is.
func (f file) read() (*grant, error) {
	data, err := ownfile.Read(f.path(), most)
	if errors.Is(err, fs.ErrNotExist) {
		return &grant{}, nil
	}
	g := &grant{}
	if err == nil {
		err = json.Unmarshal(data, g)
	}
	if err == nil && g.Resource != f.resource {
		err = errors.New("it belongs to another server")
	}
	if err != nil {
		return nil, fmt.Errorf("read the login that is kept in %s: %w; without that file you are asked to log in again", f.path(), err)
	}
	return g, nil
}

// write keeps g.
func (f file) write(g *grant) error {
	data, err := json.MarshalIndent(g, "", "\t")
	if err == nil {
		err = ownfile.Write(f.path(), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	return nil
}

func (f file) remove() error {
	if err := os.Remove(f.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the login: %w", err)
	}
	return nil
}
