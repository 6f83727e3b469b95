// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// database makes an etcd database of 300 keys, each written twice and every tenth
// deleted, and returns its bytes. Values of a page and more make it branch.
// TestInspectOutOfOrder changes single keys, by which bbolt's own check of a
// database without a list of free pages can end the process.
func TestInspectOutOfOrder(t *testing.T) {
	t.Parallel()
	db := database(t)
	for rev := int64(3); rev < 600; rev += 7 {
		broken := append([]byte{}, db...)
		key := revision(rev, "")
		changed := 0
		for from := 0; ; changed++ {
			at := bytes.Index(broken[from:], key)
			if at < 0 {
				break
			}
			broken[from+at] ^= 0x40
			from += at + len(key)
		}
		_, err := Inspect(t.Context(), written(t, broken))
		if _, corrupt := errors.AsType[*CorruptError](err); changed == 0 || !corrupt {
			t.Fatalf("revision %d, changed at %d offsets: %v", rev, changed, err)
		}
	}
}

func database(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, NoFreelistSync: true}) // as etcd's is
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range []string{"alarm", "auth", "cluster", "key", "lease", "members", "meta"} {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		put := func(bucket, key string, value []byte) {
			if err := tx.Bucket([]byte(bucket)).Put([]byte(key), value); err != nil {
				t.Error(err)
			}
		}
		put("meta", "consistent_index", binary.BigEndian.AppendUint64(nil, 777))
		put("meta", "term", binary.BigEndian.AppendUint64(nil, 4))
		put("meta", "storageVersion", []byte("3.7.0"))
		put("meta", "finishedCompactRev", revision(9, ""))
		put("cluster", "clusterVersion", []byte("3.7.0"))
		put("auth", "authEnabled", []byte{1})
		put("lease", "12345678", []byte("x"))
		put("alarm", "\x08\x07\x10\x01", nil) // NOSPACE of member 7
		put("members", "8211f1d0f64f3269", []byte(`{"id":9372538179322589801,"peerURLs":["http://a-0.a:2380"],"name":"a-0","clientURLs":["http://a-0.a:2379"]}`))
		rev := int64(1)
		for round := range 2 {
			for i := range 300 {
				rev++
				kv := &mvccpb.KeyValue{Key: fmt.Appendf(nil, "key-%d", i), Value: noise(64 + 5000*(i%3)), ModRevision: rev}
				suffix := ""
				if round == 1 && i%10 == 0 {
					suffix, kv = "t", &mvccpb.KeyValue{Key: kv.Key}
				}
				value, err := proto.Marshal(kv)
				if err != nil {
					return err
				}
				put("key", string(revision(rev, suffix)), value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = db.View(func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(&b) // as a member does it: no more pages than there are
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func revision(rev int64, suffix string) []byte {
	b := append(binary.BigEndian.AppendUint64(nil, uint64(rev)), '_')
	return append(binary.BigEndian.AppendUint64(b, 0), suffix...)
}

// written is a file with these parts.
func written(t *testing.T, parts ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "snapshot.db")
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	if err := os.WriteFile(path, all, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInspect(t *testing.T) {
	t.Parallel()
	db := database(t)
	sum := sha256.Sum256(db)
	want := File{
		Size: int64(len(db)) + 32, Hashed: true, SHA256: sum,
		Content: Content{
			Revision: 601, Written: 601, Compacted: 9, Keys: 270, Leases: 1, StorageVersion: "3.7.0", ClusterVersion: "3.7.0",
			Index: 777, Term: 4, Auth: true, Alarms: []string{"NOSPACE"},
			Members: []Member{{ID: 0x8211f1d0f64f3269, Name: "a-0", PeerURLs: []string{"http://a-0.a:2380"}, ClientURLs: []string{"http://a-0.a:2379"}}},
		},
	}
	began := time.Now()
	got, err := Inspect(t.Context(), written(t, db, sum[:]))
	if got.Modified.Before(began.Add(-time.Minute)) || got.Modified.After(began.Add(time.Hour)) {
		t.Errorf("the file was written at %s", got.Modified)
	}
	got.Modified = time.Time{}
	want.Hash = got.Hash // compared with etcdutl's in the test module
	if err != nil || got.Hash == 0 {
		t.Fatalf("got hash %x, %v", got.Hash, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("with its hash (-want +got):\n%s", diff)
	}
	want.Size, want.Hashed = want.Size-32, false
	got, err = Inspect(t.Context(), written(t, db))
	got.Modified = time.Time{}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a raw copy (-want +got):\n%s", diff)
	}
}

func TestInspectRefuses(t *testing.T) {
	t.Parallel()
	db := database(t)
	sum := sha256.Sum256(db)
	flipped := func(at int) []byte {
		b := append(append([]byte{}, db...), sum[:]...)
		b[at] ^= 1
		return b
	}
	for _, tc := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty", nil, "it is empty"},
		{"text", []byte("not a database\n"), "neither the size of a database"},
		{"text of 512 bytes", []byte(strings.Repeat("y\n", 256)), "not a bbolt database"},
		{"a bit of the database", flipped(len(db) / 2), "was changed or truncated"},
		{"a bit of the hash", flipped(len(db) + 3), "was changed or truncated"},
		{"half a hash", append(append([]byte{}, db...), sum[:16]...), "neither the size of a database"},
		{"cut at a block", db[:len(db)-4096], "it is truncated"},
		{"cut within a page", db[:4096*7+512], "it is truncated"},
		{"cut with something of the hash's size behind", append(append([]byte{}, db[:4096]...), sum[:]...), "was changed or truncated"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := written(t, tc.content)
			_, err := Inspect(t.Context(), path)
			var corrupt *CorruptError
			if !errors.As(err, &corrupt) || !strings.Contains(err.Error(), tc.want) || !strings.HasPrefix(err.Error(), path) {
				t.Errorf("got %v, want a CorruptError with %q", err, tc.want)
			}
		})
	}
}

// The error for a bbolt database of another program names the reason.
func TestInspectOfSomethingElse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(t.Context(), path); err == nil || !strings.Contains(err.Error(), "not of etcd") {
		t.Errorf("got %v", err)
	}
}

// Whatever is wrong with a raw copy, which no hash guards, it is an error and
// never the end of this process: bbolt reads it as memory.
func TestInspectSurvivesAnything(t *testing.T) {
	t.Parallel()
	db := database(t)
	rng := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 200 {
		broken := append([]byte{}, db...)
		for range 1 + rng.IntN(3) {
			// Headers and first entries are where a changed bit does most.
			at := rng.IntN(len(db)/4096)*4096 + rng.IntN(96)
			broken[at] = byte(rng.Uint32())
		}
		if _, err := Inspect(t.Context(), written(t, broken)); err != nil {
			found++
		}
	}
	if found < 50 {
		t.Errorf("of 200 broken databases %d were found to be", found)
	}
}
