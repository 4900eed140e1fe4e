// Package picture is pictures that tools put out.
//
// Does: say of what sort some bytes are and how large the picture in them, keep them in a file, and read that again as they
// go to a model: what is not, or not any more, a picture that models take is none.
//
// Does not: decode a picture's points, decide who sees it.
//
// Imports: .
package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the sorts that models take
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// What models take of one picture. What is more is kept, and not sent.
const (
	MostBytes = 3_750_000 // 5 MB once they are written in letters
	mostSide  = 8000      // points
)

// Image is a picture that a tool put out. Its bytes stand in a file, and in no transcript.
type Image struct {
	Type   string `json:"type"` // image/png, image/jpeg, image/gif or image/webp
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
	Width  int    `json:"w"`
	Height int    `json:"h"`
}

// Tokens is about how many tokens it takes.
func (i Image) Tokens() int { return min(1600, i.Width*i.Height/750) + 20 }

// Of is what some bytes are as a picture; an error says why models don't take it.
func Of(data []byte) (i Image, err error) {
	i.Type, i.Bytes = http.DetectContentType(data), len(data)
	switch i.Type {
	case "image/png", "image/jpeg", "image/gif":
		var c image.Config
		if c, _, err = image.DecodeConfig(bytes.NewReader(data)); err == nil {
			i.Width, i.Height = c.Width, c.Height
		}
	case "image/webp":
		i.Width, i.Height, err = webp(data)
	default:
		return i, errors.New("no sort of picture that models take")
	}
	switch {
	case err != nil:
		return i, fmt.Errorf("a broken picture: %w", err)
	case i.Width < 1 || i.Height < 1:
		return i, errors.New("a broken picture: it has no points")
	case i.Width > mostSide || i.Height > mostSide:
		return i, fmt.Errorf("a picture of %d×%d points, which is more than models take", i.Width, i.Height)
	case len(data) > MostBytes:
		return i, fmt.Errorf("a picture of %d bytes, which is more than models take", len(data))
	}
	return i, nil
}

// webp is how large such a picture is, by the header of its first chunk.
func webp(data []byte) (w, h int, err error) {
	if len(data) < 30 {
		return 0, 0, io.ErrUnexpectedEOF
	}
	switch head := data[20:30]; string(data[12:16]) {
	case "VP8 ":
		if !bytes.Equal(head[3:6], []byte{0x9d, 0x01, 0x2a}) {
			break
		}
		return int(binary.LittleEndian.Uint16(head[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(head[8:]) & 0x3fff), nil
	case "VP8L":
		if head[0] != 0x2f {
			break
		}
		bits := binary.LittleEndian.Uint32(head[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, nil
	case "VP8X":
		side := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return side(head[4:7]) + 1, side(head[7:10]) + 1, nil
	}
	return 0, 0, errors.New("its header is not known")
}

// endings are how names of files end whose sort is known.
var endings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"audio/mpeg": ".mp3", "audio/wav": ".wav", "audio/wave": ".wav", "audio/x-wav": ".wav", "audio/ogg": ".ogg", "application/pdf": ".pdf",
}

// Keep writes data into a file of its own in dir, which is made if need be. sort is what it is said to be, call what it comes
// from. A file that is there is never overwritten.
func Keep(dir, call, sort string, data []byte) (file string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the directory for output: %w", err)
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, call)
	end := endings[sort]
	if end == "" {
		end = ".bin"
	}
	name = name[:min(len(name), 80)]
	for n := 1; n < 10_000; n++ {
		file = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, n, end))
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err == nil {
			_, err = f.Write(data)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return "", fmt.Errorf("keep what a tool put out: %w", err)
		}
		return file, nil
	}
	return "", errors.New("keep what a tool put out: too many files")
}

// Read reads the picture once more, as it goes to a model. The file may be gone, or another one.
func (i Image) Read() ([]byte, error) {
	f, err := os.OpenFile(i.File, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if s, err := f.Stat(); err != nil || !s.Mode().IsRegular() || s.Size() > MostBytes {
		return nil, errors.Join(err, errors.New("it is no file of a picture any more"))
	}
	data, err := io.ReadAll(io.LimitReader(f, MostBytes))
	if err != nil {
		return nil, err
	}
	is, err := Of(data)
	if err == nil && is.Type != i.Type {
		err = errors.New("it is another sort of picture now")
	}
	return data, err
}
