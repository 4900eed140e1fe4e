package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats that models accept
	_ "image/jpeg"
	_ "image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Limits of one picture that models accept. A larger one is kept, and not sent.
const (
	MaxPictureBytes = 3_750_000 // 5 MB in base64
	maxSide         = 8000      // points
)

// Picture is a picture from a tool. Its bytes are in a file, and in no transcript.
type Picture struct {
	Type   string `json:"type"` // image/png, image/jpeg, image/gif or image/webp
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
	Width  int    `json:"w"`
	Height int    `json:"h"`
}

// Tokens is roughly how many tokens it takes.
func (i Picture) Tokens() int { return min(1600, i.Width*i.Height/750) + 20 }

// PictureOf describes data as a picture; the error says why models don't accept it.
func PictureOf(data []byte) (i Picture, err error) {
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
	case i.Width > maxSide || i.Height > maxSide:
		return i, fmt.Errorf("a picture of %d×%d points, which is more than models take", i.Width, i.Height)
	case len(data) > MaxPictureBytes:
		return i, fmt.Errorf("a picture of %d bytes, which is more than models take", len(data))
	}
	return i, nil
}

// webp returns the size of such a picture, from the header of its first chunk.
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

// endings are file name endings by media type.
var endings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"audio/mpeg": ".mp3", "audio/wav": ".wav", "audio/wave": ".wav", "audio/x-wav": ".wav", "audio/ogg": ".ogg", "application/pdf": ".pdf",
}

// KeepPicture writes data into a new file in dir, which it makes if needed. sort is the media type of data, call the id
// of the call that it comes from. It never overwrites a file.
func KeepPicture(dir, call, sort string, data []byte) (file string, err error) {
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

// Read reads the picture for a model. The file may be gone, or another one.
func (i Picture) Read() ([]byte, error) {
	f, err := os.OpenFile(i.File, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if s, err := f.Stat(); err != nil || !s.Mode().IsRegular() || s.Size() > MaxPictureBytes {
		return nil, errors.Join(err, errors.New("it is no file of a picture any more"))
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxPictureBytes))
	if err != nil {
		return nil, err
	}
	is, err := PictureOf(data)
	if err == nil && is.Type != i.Type {
		err = errors.New("it is another sort of picture now")
	}
	return data, err
}
