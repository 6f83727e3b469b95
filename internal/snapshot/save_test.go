// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

// sender answers each request for a snapshot with the next tape, and further requests with
// the last one. A tape whose end is nil blocks at its end.
type sender struct {
	pb.UnimplementedMaintenanceServer

	tapes []*tape
	asked int
}

func (s *sender) Snapshot(_ *pb.SnapshotRequest, stream grpc.ServerStreamingServer[pb.SnapshotResponse]) error {
	t := s.tapes[min(s.asked, len(s.tapes)-1)]
	s.asked++
	for _, m := range t.messages {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	switch {
	case t.end == nil:
		<-stream.Context().Done()
		return nil
	case errors.Is(t.end, io.EOF):
		return nil
	}
	return t.end
}

// sourceOf is a source that plays tapes, and how often it was asked.
func sourceOf(t *testing.T, pod string, tapes ...*tape) (Source, *sender) {
	t.Helper()
	listener, server, s := bufconn.Listen(1<<20), grpc.NewServer(), &sender{tapes: tapes}
	pb.RegisterMaintenanceServer(server, s)
	go server.Serve(listener) //nolint:errcheck // ends with the test
	t.Cleanup(server.Stop)
	return Source{Pod: pod, Open: func(context.Context) (grpc.ClientConnInterface, io.Closer, error) {
		conn, err := grpc.NewClient("passthrough:member", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
		return conn, conn, err
	}}, s
}

func cut(db []byte, messages int, end error) *tape {
	c := send(db)
	c.messages, c.end = c.messages[:messages], end
	return c
}

func saveTo(t *testing.T, path string, force bool, save Saver) (Saved, error) {
	t.Helper()
	return save.ToFile(t.Context(), path, force, func(Saved) ([]byte, error) { return []byte("{}\n"), nil })
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSave(t *testing.T) {
	t.Parallel()
	db := database(t)
	a, _ := sourceOf(t, "a-0", send(db))
	path := filepath.Join(t.TempDir(), "a.db")
	got, err := saveTo(t, path, false, Saver{Sources: []Source{a}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Pod != "a-0" || got.Attempts != 1 || got.Content == nil || got.Content.Keys != 270 || got.SHA256 != sha256.Sum256(db) {
		t.Errorf("got %+v", got)
	}
	if got := files(t, filepath.Dir(path)); !slices.Equal(got, []string{"a.db", "a.db.json"}) {
		t.Errorf("left %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if file, err := Inspect(t.Context(), path); err != nil || !file.Hashed || file.SHA256 != got.SHA256 {
		t.Errorf("the file is %+v, %v", file, err)
	}
}

// After every kind of failed transfer no file has the final name, the error has the reason,
// and an earlier file is unchanged.
func TestSaveFails(t *testing.T) {
	t.Parallel()
	db := database(t)
	last := len(send(db).messages)
	damaged := slices.Clone(db)
	meta, err := readMeta(bytes.NewReader(db), int64(len(db)))
	if err != nil {
		t.Fatal(err)
	}
	damaged[meta.root*uint64(meta.pageSize)+8] ^= 0xff // the flags of a page: the hash fits, and the database is broken
	gone := status.Error(codes.Unavailable, "gone")
	for _, tc := range []struct {
		name string
		tape *tape
		want string
	}{
		{"nothing", cut(db, 0, io.EOF), "before it sent any data"},
		{"refused", cut(db, 0, status.Error(codes.PermissionDenied, "permission denied")), "permission denied"},
		{"cut after the first message", cut(db, 1, io.EOF), "the stream ended after"},
		{"cut before the hash", cut(db, last-1, io.EOF), "the stream ended after"},
		{"cut with an error in the middle", cut(db, last/2, gone), "gone"},
		{"an error after all has come", cut(db, last, gone), "gone"},
		{"hangs at once", cut(db, 0, nil), "no data arrived for"},
		{"hangs in the middle", cut(db, last/2, nil), "no data arrived for"},
		{"hangs after all has come", cut(db, last, nil), "no data arrived for"},
		{"a damaged database", send(damaged), "is corrupt"},
		{"no database", send(noise(8192)), "is corrupt"},
	} {
		for _, before := range []string{"", "what was there"} {
			t.Run(tc.name+"/"+before, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "a.db")
				if before != "" {
					if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				a, _ := sourceOf(t, "a-0", tc.tape)
				save := Saver{Sources: []Source{a}}
				if tc.tape.end == nil {
					save.Idle = 200 * time.Millisecond
				}
				got, err := saveTo(t, path, before != "", save)
				if err == nil || got.Size != 0 || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "a-0") {
					t.Errorf("got %+v, %v; want %q", got, err, tc.want)
				}
				after, _ := os.ReadFile(path)
				if string(after) != before || len(files(t, filepath.Dir(path))) != len(before)/len("what was there") {
					t.Errorf("left %q with %d bytes", files(t, filepath.Dir(path)), len(after))
				}
			})
		}
	}
}

// A whole transfer is tried again, of the next member.
func TestSaveRetries(t *testing.T) {
	t.Parallel()
	db := database(t)
	a, askedA := sourceOf(t, "a-0", cut(db, 2, io.EOF))
	b, askedB := sourceOf(t, "a-1", cut(db, 0, io.EOF), send(db))
	var failed []string
	save := Saver{Sources: []Source{a, b}, Retries: 3, Again: func(pod string, _ error) { failed = append(failed, pod) }}
	path := filepath.Join(t.TempDir(), "a.db")
	got, err := saveTo(t, path, false, save)
	if err != nil || got.Pod != "a-1" || got.Attempts != 4 || askedA.asked != 2 || askedB.asked != 2 || !slices.Equal(failed, []string{"a-0", "a-1", "a-0"}) {
		t.Errorf("got %+v, %v; asked %d and %d; failed %q", got, err, askedA.asked, askedB.asked, failed)
	}
	if file, err := Inspect(t.Context(), path); err != nil || file.Size != int64(len(db))+32 {
		t.Errorf("the file is %+v, %v", file, err)
	}

	save.Retries = 1
	if _, err := saveTo(t, path, true, save); err != nil { // a-0, then a-1, which is well by now
		t.Error(err)
	}
	save.Sources = save.Sources[:1]
	if _, err := saveTo(t, path, true, save); err == nil || !strings.Contains(err.Error(), "the last of 2 attempts") {
		t.Errorf("got %v", err)
	}
}

// A member that refuses the user is the last that is asked.
func TestSaveDenied(t *testing.T) {
	t.Parallel()
	a, askedA := sourceOf(t, "a-0", cut(database(t), 0, status.Error(codes.PermissionDenied, "permission denied")))
	b, askedB := sourceOf(t, "a-1", send(database(t)))
	a.Denied = func(err error) bool { return strings.Contains(err.Error(), "permission denied") }
	_, err := saveTo(t, filepath.Join(t.TempDir(), "a.db"), false, Saver{Sources: []Source{a, b}, Retries: 3})
	if err == nil || strings.Contains(err.Error(), "bytes") || strings.Contains(err.Error(), "attempts") || askedA.asked != 1 || askedB.asked != 0 {
		t.Errorf("got %v; asked %d and %d times", err, askedA.asked, askedB.asked)
	}
}

func TestSaveCancelled(t *testing.T) {
	t.Parallel()
	db := database(t)
	a, asked := sourceOf(t, "a-0", cut(db, 3, nil))
	path := filepath.Join(t.TempDir(), "a.db")
	interrupted := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	save := Saver{Sources: []Source{a}, Retries: 5, Progress: func(int64) { cancel(interrupted) }}
	_, err := save.ToFile(ctx, path, false, func(Saved) ([]byte, error) { return nil, nil })
	if !errors.Is(err, interrupted) || asked.asked != 1 {
		t.Errorf("got %v, asked %d times", err, asked.asked)
	}
	if left := files(t, filepath.Dir(path)); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// TestSaveCancelledWhileVerified: also where all has come, and while it is described.
func TestSaveCancelledWhileVerified(t *testing.T) {
	t.Parallel()
	db := database(t)
	for _, moment := range []string{"verified", "described"} {
		a, _ := sourceOf(t, "a-0", send(db))
		path := filepath.Join(t.TempDir(), "a.db")
		interrupted := errors.New("interrupted")
		ctx, cancel := context.WithCancelCause(t.Context())
		save := Saver{Sources: []Source{a}}
		if moment == "verified" {
			save.Verifying = func() { cancel(interrupted) }
		}
		_, err := save.ToFile(ctx, path, false, func(Saved) ([]byte, error) { cancel(interrupted); return []byte("{}"), nil })
		if !errors.Is(err, interrupted) {
			t.Errorf("%s: got %v", moment, err)
		}
		if left := files(t, filepath.Dir(path)); len(left) > 0 {
			t.Errorf("%s: left %q", moment, left)
		}
	}
}

func TestSaveExisting(t *testing.T) {
	t.Parallel()
	db := database(t)
	for _, name := range []string{"a.db", "a.db.json"} {
		a, asked := sourceOf(t, "a-0", send(db))
		path := filepath.Join(t.TempDir(), "a.db")
		there := filepath.Join(filepath.Dir(path), name)
		if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := saveTo(t, path, false, Saver{Sources: []Source{a}})
		if err == nil || !strings.Contains(err.Error(), there+" exists already") || asked.asked != 0 {
			t.Errorf("%s: got %v, asked %d times", name, err, asked.asked)
		}
		if mine, err := os.ReadFile(there); err != nil || string(mine) != "mine" {
			t.Errorf("%s: now %q, %v", name, mine, err)
		}
		if _, err := saveTo(t, path, true, Saver{Sources: []Source{a}}); err != nil {
			t.Errorf("%s: with force: %v", name, err)
		}
		if got := files(t, filepath.Dir(path)); !slices.Equal(got, []string{"a.db", "a.db.json"}) {
			t.Errorf("%s: left %q", name, got)
		}
		if _, err := saveTo(t, path, false, Saver{Sources: []Source{a}}); err == nil || !strings.Contains(err.Error(), path+" exists already") {
			t.Errorf("both are there: got %v", err)
		}
	}
}

// A file that comes during the transfer is not replaced either.
func TestSaveOvertaken(t *testing.T) {
	t.Parallel()
	db := database(t)
	a, _ := sourceOf(t, "a-0", send(db))
	path := filepath.Join(t.TempDir(), "a.db")
	save := Saver{Sources: []Source{a}, Verifying: func() {
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Error(err)
		}
	}}
	if _, err := saveTo(t, path, false, save); err == nil || !strings.Contains(err.Error(), "exists already") {
		t.Errorf("got %v", err)
	}
	if mine, err := os.ReadFile(path); err != nil || string(mine) != "mine" {
		t.Errorf("now %q, %v", mine, err)
	}
}

func TestSaveConcurrently(t *testing.T) {
	t.Parallel()
	db := database(t)
	slow, _ := sourceOf(t, "a-0", cut(db, 3, nil))
	fast, _ := sourceOf(t, "a-1", send(db))
	path := filepath.Join(t.TempDir(), "a.db")
	second := make(chan error, 1)
	tried := false
	save := Saver{Sources: []Source{slow, fast}, Retries: 1, Idle: 3 * time.Second, Progress: func(int64) {
		if !tried { // as another process would, in the middle of it
			tried = true
			_, err := saveTo(t, path, true, Saver{Sources: []Source{fast}})
			second <- err
		}
	}}
	if _, err := saveTo(t, path, false, save); err != nil {
		t.Errorf("the first: %v", err)
	}
	if err := <-second; err == nil || !strings.Contains(err.Error(), "another save is writing") {
		t.Errorf("the second: %v", err)
	}
	if got := files(t, filepath.Dir(path)); !slices.Equal(got, []string{"a.db", "a.db.json"}) {
		t.Errorf("left %q", got)
	}
}

// What a killed process left is replaced, also where it was killed between the
// two names of one file.
func TestSaveOverStalePart(t *testing.T) {
	t.Parallel()
	db := database(t)
	a, _ := sourceOf(t, "a-0", send(db))
	path := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path+".part", noise(1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := saveTo(t, path, false, Saver{Sources: []Source{a}}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, path+".part"); err != nil {
		t.Fatal(err)
	}
	broken, _ := sourceOf(t, "a-0", cut(db, 2, io.EOF))
	if _, err := saveTo(t, path, true, Saver{Sources: []Source{broken}}); err == nil {
		t.Error("a broken transfer passed")
	}
	if after, err := os.ReadFile(path); err != nil || !slices.Equal(after, before) {
		t.Errorf("a failed save changed the snapshot that was there: %d bytes, %v", len(after), err)
	}
}

// A stream has no second chance once it has begun, and none is needed before.
func TestSaveToWriter(t *testing.T) {
	t.Parallel()
	db := database(t)
	sum := sha256.Sum256(db)
	a, _ := sourceOf(t, "a-0", cut(db, 0, io.EOF), send(db))
	var out strings.Builder
	got, err := Saver{Sources: []Source{a}, Retries: 2}.ToWriter(t.Context(), &out)
	if err != nil || got.Attempts != 2 || out.String() != string(db)+string(sum[:]) {
		t.Errorf("got %+v, %v and %d bytes", got, err, out.Len())
	}
	a, asked := sourceOf(t, "a-0", cut(db, 5, io.EOF), send(db))
	if _, err := (Saver{Sources: []Source{a}, Retries: 2}).ToWriter(t.Context(), io.Discard); err == nil || asked.asked != 1 {
		t.Errorf("got %v, asked %d times", err, asked.asked)
	}
}
