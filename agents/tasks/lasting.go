package tasks

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fantail/store"
	"fantail/tools/files"
)

// KeyFile is the name of the file with the key of [Lasting], in the workspace's data directory.
const KeyFile = "seal.key"

// LastingSeal seals rows that start or allow something even after a restart: schedules, rules for good, checks, and
// settings that allow something. Its key is in a file that sandboxes hide. A process outside of a sandbox can read it,
// and can write back a row that was once sealed. A nil one seals nothing, and regards no row as sealed.
type LastingSeal struct {
	key SealKey
	err error // why there is no key; nil: there is one
}

// LoadLastingSeal reads the key in the data directory of a workspace, and makes one if there is none.
func LoadLastingSeal(data string) *LastingSeal {
	k := &LastingSeal{}
	path := filepath.Join(data, KeyFile)
	err := k.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(path); err == nil {
			err = k.read(path)
		}
	}
	if err != nil {
		k.err = fmt.Errorf("schedules, checks and rules for good wait, as the key of their seals (%s) can't be used: %w; "+
			"repair it and start Fantail again, or move it away: then /confirm shows them and asks", path, err)
	}
	return k
}

// Err returns why no row can be sealed or counts as sealed; nil if the key is there.
func (k *LastingSeal) Err() error {
	if k == nil {
		return nil
	}
	return k.err
}

func (k *LastingSeal) read(path string) error {
	i, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if i.Mode().IsRegular() && i.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others than you may read or change it (its mode is %04o, not 0600)", i.Mode().Perm())
	}
	data, err := files.ReadOwn(path, sha256.Size)
	if err == nil && len(data) != sha256.Size {
		err = fmt.Errorf("it has %d bytes, not %d", len(data), sha256.Size)
	}
	if err == nil {
		copy(k.key.secret[:], data)
	}
	return err
}

// makeKey makes the key file, whole or not at all. It leaves a file that another process made meanwhile.
func makeKey(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), KeyFile+".*") // for the user alone
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // it ends the program rather than fail
	_, err = f.Write(secret)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(f.Name(), path) // no links here
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return err
}

// of returns the right seal of a row with its present content, and the seal it has. The seal covers the table's name
// and all columns. right is "" if there is no such row.
func (k *LastingSeal) of(v *store.View, t store.Table, key any) (right, has string, err error) {
	if k.err != nil {
		return "", "", k.err
	}
	columns, has, ok, err := store.SealedRow(v, t, key)
	if err != nil || !ok {
		return "", "", err
	}
	return k.key.sum(append([]string{"row", string(t)}, columns...)...), has, nil
}

// Seal seals a row as it is in tx.
func (k *LastingSeal) Seal(tx *store.Tx, t store.Table, key any) error {
	if k == nil {
		return nil
	}
	right, _, err := k.of(&tx.View, t, key)
	if err == nil {
		err = store.Missing(right != "", "row %v of %s", key, t)
	}
	if err != nil {
		return err
	}
	return store.SealRow(tx, t, key, right)
}

// Sealed reports whether the row is as this program wrote it. It returns false if there is no row. Without a key the
// error says why.
func (k *LastingSeal) Sealed(v *store.View, t store.Table, key any) (bool, error) {
	if k == nil {
		return false, nil
	}
	right, has, err := k.of(v, t, key)
	return err == nil && has != "" && SameSeal(has, right), err
}

// Change calls f to change a row, which stays sealed if it was.
func (k *LastingSeal) Change(tx *store.Tx, t store.Table, key any, f func() error) error {
	was := false
	if k.Err() == nil { // without a key it can still be removed
		var err error
		if was, err = k.Sealed(&tx.View, t, key); err != nil {
			return err
		}
	}
	err := f()
	if err == nil && was {
		err = k.Seal(tx, t, key)
	}
	return err
}

// SealedRow is a row that starts or allows something and is not sealed: an older version wrote it, or another program
// wrote or changed it. It has no effect until the human confirms it.
type SealedRow struct {
	Kind string // what it is, a word for people
	Name string
	Says string // everything that it starts or allows, for people

	Table store.Table
	Key   any
	seal  string // the seal it gets when confirmed
}

// SealKeeper gives access to the sealed rows of one table.
type SealKeeper interface {
	// Unsealed returns the rows that would start or allow something, but are not sealed.
	Unsealed(v *store.View) ([]SealedRow, error)
	// Confirm makes a row effective as it is. The caller then seals it.
	Confirm(tx *store.Tx, r SealedRow) error
	// Drop removes a row, or ends its effect for good.
	Drop(tx *store.Tx, r SealedRow) error
}

// SealedRows collects all rows that wait for the human's confirmation.
type SealedRows struct {
	DB      *store.DB
	Key     *LastingSeal
	Keepers []SealKeeper
	Note    func(ctx context.Context, tx *store.Tx, r SealedRow, answer string) error // records the answer
}

// Waiting returns all unsealed rows, as they are now.
func (rs *SealedRows) Waiting(ctx context.Context) (all []SealedRow, err error) {
	if rs.Key == nil || rs.Key.err != nil {
		return nil, rs.Key.Err()
	}
	err = rs.DB.Read(ctx, func(rx *store.Rx) error {
		all = nil
		for _, k := range rs.Keepers {
			some, err := rs.waiting(&rx.View, k)
			if err != nil {
				return err
			}
			all = append(all, some...)
		}
		return nil
	})
	return all, err
}

// waiting returns the unsealed rows of one keeper, with the seal that each gets when confirmed.
func (rs *SealedRows) waiting(v *store.View, k SealKeeper) ([]SealedRow, error) {
	all, err := k.Unsealed(v)
	for i := range all {
		if err == nil {
			all[i].seal, _, err = rs.Key.of(v, all[i].Table, all[i].Key)
		}
	}
	return all, err
}

// Brief says how many rows wait, and what to do; "": none.
func (rs *SealedRows) Brief(ctx context.Context) string {
	all, err := rs.Waiting(ctx)
	switch {
	case err != nil:
		return err.Error()
	case len(all) == 0:
		return ""
	}
	count := map[string]int{}
	var kinds []string
	for _, r := range all {
		if count[r.Kind]++; count[r.Kind] == 1 {
			kinds = append(kinds, r.Kind)
		}
	}
	for i, k := range kinds {
		if kinds[i] = fmt.Sprintf("%d %s", count[k], k); count[k] > 1 {
			kinds[i] += "s"
		}
	}
	return strings.Join(kinds, ", ") + ": written by an older version or by another program. Nothing of this starts or allows anything before your yes; /confirm on a screen shows it"
}

// errChanged is the error of an answer to a row that has changed since it was shown.
var errChanged = errors.New("the rows changed since they were shown: /confirm shows them as they are now")

// Confirm makes exactly these rows effective, as they were shown.
func (rs *SealedRows) Confirm(ctx context.Context, these ...SealedRow) error {
	return rs.answer(ctx, "confirmed", these, func(tx *store.Tx, k SealKeeper, r SealedRow) error {
		if err := k.Confirm(tx, r); err != nil {
			return err
		}
		return rs.Key.Seal(tx, r.Table, r.Key)
	})
}

// Drop removes exactly these rows, as they were shown.
func (rs *SealedRows) Drop(ctx context.Context, these ...SealedRow) error {
	return rs.answer(ctx, "deleted", these, func(tx *store.Tx, k SealKeeper, r SealedRow) error { return k.Drop(tx, r) })
}

func (rs *SealedRows) answer(ctx context.Context, answer string, these []SealedRow, f func(tx *store.Tx, k SealKeeper, r SealedRow) error) error {
	return rs.DB.Write(ctx, "answer what waits for a yes", func(tx *store.Tx) error {
		left := len(these)
		for _, k := range rs.Keepers {
			now, err := rs.waiting(&tx.View, k)
			if err != nil {
				return err
			}
			for _, is := range now {
				for _, r := range these {
					if r.Table != is.Table || r.Key != is.Key || !SameSeal(r.seal, is.seal) {
						continue
					}
					left--
					if err := errors.Join(f(tx, k, is), rs.Note(ctx, tx, is, answer)); err != nil {
						return err
					}
				}
			}
		}
		if left > 0 {
			return errChanged
		}
		return nil
	})
}
