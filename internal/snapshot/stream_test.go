// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// tape is a stream that was recorded, and how it ends.
type tape struct {
	messages []*pb.SnapshotResponse
	end      error
}

func (t *tape) Recv() (*pb.SnapshotResponse, error) {
	if len(t.messages) == 0 {
		return nil, t.end
	}
	m := t.messages[0]
	t.messages = t.messages[1:]
	return m, nil
}

// send cuts a database into messages as a member does, 32 KiB each, and hashes it.
func send(database []byte) *tape {
	const size = 32 << 10
	t := &tape{end: io.EOF}
	for sent := 0; sent < len(database); {
		blob := database[sent:min(sent+size, len(database))]
		sent += len(blob)
		t.messages = append(t.messages, &pb.SnapshotResponse{
			RemainingBytes: uint64(len(database) - sent), Blob: bytes.Clone(blob), Version: "3.7.0",
		})
	}
	sum := sha256.Sum256(database)
	t.messages = append(t.messages, &pb.SnapshotResponse{Blob: sum[:], Version: "3.7.0"})
	return t
}

// noise returns random bytes in place of a database.
func noise(size int) []byte {
	b := make([]byte, size)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(b) // never fails
	return b
}

func take(t *tape) ([]byte, received, error) {
	var out bytes.Buffer
	got, err := receive(t, &out, func(int64) error { return nil }, func(int64, int64) {})
	return out.Bytes(), got, err
}

func TestReceiveWhole(t *testing.T) {
	for _, size := range []int{512, 4096, 32 << 10, 64 << 10, 64<<10 + 4096, 1 << 20} {
		database := noise(size)
		sum := sha256.Sum256(database)
		bytesOut, got, err := take(send(database))
		want := received{Size: int64(size) + 32, SHA256: sum, StorageVersion: "3.7.0"}
		if err != nil || got != want {
			t.Errorf("%d bytes: got %+v, %v; want %+v", size, got, err, want)
		}
		if !bytes.Equal(bytesOut, append(database, sum[:]...)) {
			t.Errorf("%d bytes: what was written is not what was sent", size)
		}
	}
}

// A proxy can split a stream into other messages; only the bytes matter.
func TestReceiveHashWithinAMessage(t *testing.T) {
	database := noise(4096)
	sum := sha256.Sum256(database)
	_, got, err := take(&tape{end: io.EOF, messages: []*pb.SnapshotResponse{
		{RemainingBytes: 3096, Blob: database[:1000]},
		{Blob: append(bytes.Clone(database[1000:]), sum[:7]...)},
		{Blob: sum[7:]},
	}})
	if err != nil || got.SHA256 != sum {
		t.Errorf("got %+v, %v", got, err)
	}
}

// However a stream is cut, by an error or by an end that seems regular, and
// whatever is missing of it, it is never taken for whole.
func TestReceiveCut(t *testing.T) {
	database := noise(5*(32<<10) + 4096)
	whole := len(send(database).messages)
	for _, end := range []error{io.EOF, status.Error(codes.Unavailable, "unexpected EOF"), errors.New("tunnel closed")} {
		for n := range whole {
			cut := send(database)
			cut.messages, cut.end = cut.messages[:n], end
			if _, got, err := take(cut); err == nil || got != (received{}) {
				t.Errorf("cut after %d of %d messages by %v: got %+v, %v", n, whole, end, got, err)
			}
			if n > 0 {
				cut = send(database)
				cut.messages, cut.end = cut.messages[:n], end
				last := cut.messages[n-1]
				last.Blob = last.Blob[:len(last.Blob)/2]
				if _, got, err := take(cut); err == nil || got != (received{}) {
					t.Errorf("cut within message %d by %v: got %+v, %v", n, end, got, err)
				}
			}
		}
	}
}

func TestReceiveChanged(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*tape)
		want   string
	}{
		{"one bit of the database", func(c *tape) { c.messages[1].Blob[77] ^= 4 }, "SHA-256"},
		{"one bit of the hash", func(c *tape) { c.messages[3].Blob[31] ^= 1 }, "SHA-256"},
		{"no hash", func(c *tape) { c.messages = c.messages[:3] }, "ended after 69632 of 69664 bytes"},
		{"half a hash", func(c *tape) { c.messages[3].Blob = c.messages[3].Blob[:16] }, "ended after 69648 of 69664 bytes"},
		{"more than announced", func(c *tape) { c.messages = append(c.messages, c.messages[3]) }, "more than the 69664 bytes"},
		{"a message twice", func(c *tape) { c.messages[1] = c.messages[0] }, "bytes left, not"},
		{"a message left out", func(c *tape) { c.messages = append(c.messages[:1:1], c.messages[2:]...) }, "bytes left, not"},
		{"no size", func(c *tape) { c.messages = []*pb.SnapshotResponse{{}} }, "not a valid size"},
		{"an odd size", func(c *tape) { c.messages[0].RemainingBytes++ }, "not a valid size"},
		{"an absurd size", func(c *tape) { c.messages[0].RemainingBytes = 1 << 63 }, "not a valid size"},
		{"nothing", func(c *tape) { c.messages = nil }, "before it sent any data"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := send(noise(64<<10 + 4096))
			tc.change(c)
			_, got, err := take(c)
			var stream *streamError
			if !errors.As(err, &stream) || got != (received{}) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %+v, %v; want an error of the stream with %q", got, err, tc.want)
			}
		})
	}
}

// Errors of this machine are not the member's: trying again wouldn't help.
func TestReceiveLocalErrors(t *testing.T) {
	full := errors.New("disk full")
	_, err := receive(send(noise(4096)), writerFunc(func([]byte) (int, error) { return 100, full }), func(int64) error { return nil }, nil)
	var stream *streamError
	if !errors.Is(err, full) || errors.As(err, &stream) {
		t.Errorf("writing: got %v", err)
	}
	_, err = receive(send(noise(4096)), nil, func(total int64) error {
		if total != 4096+32 {
			t.Errorf("announced %d bytes", total)
		}
		return full
	}, nil)
	if !errors.Is(err, full) || errors.As(err, &stream) {
		t.Errorf("at the start: got %v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
