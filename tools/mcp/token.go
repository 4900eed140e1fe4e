package mcp

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

	"fantail/tools/files"
)

// refreshTimeout is how long refreshing a token may take.
const refreshTimeout = 30 * time.Second

// storedToken is a token with its issuer, the only place where it is refreshed. Without an
// AccessToken it is empty.
type storedToken struct {
	Resource     string           `json:"resource"` // address of the server
	TokenURL     string           `json:"token_url"`
	ClientID     string           `json:"client"`
	ClientSecret string           `json:"secret,omitempty"`
	AuthStyle    oauth2.AuthStyle `json:"style,omitempty"`
	Scopes       []string         `json:"scopes,omitempty"`
	AccessToken  string           `json:"access"`
	RefreshToken string           `json:"refresh,omitempty"`
	Expiry       time.Time        `json:"expiry,omitzero"`
}

// newStoredToken returns the token of a login.
func newStoredToken(resource string, c *oauth2.Config, t *oauth2.Token) *storedToken {
	return &storedToken{
		Resource: resource, TokenURL: c.Endpoint.TokenURL, ClientID: c.ClientID, ClientSecret: c.ClientSecret, AuthStyle: c.Endpoint.AuthStyle, Scopes: c.Scopes,
		AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, Expiry: t.Expiry,
	}
}

func (g *storedToken) issuerHost() string {
	u, err := url.Parse(g.TokenURL)
	if err != nil {
		return g.TokenURL
	}
	return u.Host
}

// refresh asks the issuer for a new token.
func (g *storedToken) refresh(ctx context.Context) (*storedToken, error) {
	c := &oauth2.Config{ClientID: g.ClientID, ClientSecret: g.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.AuthStyle}}
	t, err := c.TokenSource(ctx, &oauth2.Token{RefreshToken: g.RefreshToken}).Token()
	if err != nil {
		return nil, err
	}
	next := *g
	next.AccessToken, next.Expiry = t.AccessToken, t.Expiry
	if t.RefreshToken != "" {
		next.RefreshToken = t.RefreshToken
	}
	return &next, nil
}

// tokenFile is the file with the token of one server.
type tokenFile struct{ dir, resource string }

// maxTokenFile limits the bytes of such a file.
const maxTokenFile = 1 << 20

func (f tokenFile) path() string {
	sum := sha256.Sum256([]byte(f.resource))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:12])+".json")
}

// lock keeps other processes from refreshing the same token.
func (f tokenFile) lock(ctx context.Context) (open func(), err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, err
	}
	l := flock.New(f.path()+".lock", flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil
}

// read returns the saved token, or an empty one.
func (f tokenFile) read() (*storedToken, error) {
	data, err := files.ReadOwn(f.path(), maxTokenFile)
	if errors.Is(err, fs.ErrNotExist) {
		return &storedToken{}, nil
	}
	g := &storedToken{}
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

// write saves a token.
func (f tokenFile) write(g *storedToken) error {
	data, err := json.MarshalIndent(g, "", "\t")
	if err == nil {
		err = files.WriteOwn(f.path(), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the login: %w", err)
	}
	return nil
}

func (f tokenFile) remove() error {
	if err := os.Remove(f.path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the login: %w", err)
	}
	return nil
}
