// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"hash/maphash"

	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// SnapshotContent is what an etcd database holds.
type SnapshotContent struct {
	// Hash is what etcdutl snapshot status calls the hash: a CRC-32 of all content.
	Hash uint32
	// Revision is the store's; below Compacted nothing can be read any more, 0
	// for a store that was never compacted.
	Revision, Compacted int64
	// Written is the highest revision whose content is in it, 0 where none is. It is from
	// here that a restore raises the revision.
	Written int64
	// Keys are those that exist at Revision, Leases those that were granted.
	Keys, Leases int
	// StorageVersion is the format, as 3.7.0; empty before 3.6.
	StorageVersion string
	// ClusterVersion is what the members had agreed on, empty before 3.5.
	ClusterVersion string
	// Index and Term are of the last raft entry in it; Term is 0 before 3.5.
	Index, Term uint64
	// Members are those of the cluster that it came from.
	Members []SnapshotMember
	// Auth says that authentication was switched on; it will be after a restore.
	Auth bool
}

// SnapshotMember is a member as the database has it.
type SnapshotMember struct {
	ID         uint64   `json:"id"`
	Name       string   `json:"name"`
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs"`
	Learner    bool     `json:"isLearner"`
}

// readContent reads all of a database whose order has been checked.
func readContent(ctx context.Context, tx *bbolt.Tx) (SnapshotContent, error) {
	var c SnapshotContent
	if tx.Bucket([]byte("key")) == nil || tx.Bucket([]byte("meta")) == nil {
		return c, fmt.Errorf("%s is a bbolt database and not etcd's: it has no keys", tx.DB().Path())
	}
	crc, store := crc32.New(crc32.MakeTable(crc32.Castagnoli)), keyCount{seed: maphash.MakeSeed(), live: map[uint64]bool{}}
	err := tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		_, _ = crc.Write(name) // never fails
		return b.ForEach(func(k, v []byte) error {
			_, _ = crc.Write(k)
			_, _ = crc.Write(v)
			if string(name) != "key" {
				return c.note(string(name), k, v)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return store.add(k, v)
		})
	})
	c.Hash, c.Keys = crc.Sum32(), len(store.live)
	c.Written = store.last
	c.Revision = max(1, c.Written, c.Compacted) // a new store begins at 1
	return c, err
}

// note takes what is worth knowing from the buckets beside the keys.
func (c *SnapshotContent) note(bucket string, k, v []byte) error {
	switch bucket + "/" + string(k) {
	case "meta/consistent_index":
		c.Index = number(v)
	case "meta/term":
		c.Term = number(v)
	case "meta/finishedCompactRev":
		c.Compacted = int64(number(v)) //nolint:gosec // a revision
	case "meta/storageVersion":
		c.StorageVersion = string(v)
	case "cluster/clusterVersion":
		c.ClusterVersion = string(v)
	case "auth/authEnabled":
		c.Auth = bytes.Equal(v, []byte{1})
	}
	switch bucket {
	case "lease":
		c.Leases++
	case "members":
		var m SnapshotMember
		if err := json.Unmarshal(v, &m); err != nil {
			return fmt.Errorf("read member %s: %w", k, err)
		}
		c.Members = append(c.Members, m)
	}
	return nil
}

// number reads the first 8 bytes of a value: a revision is that and more.
func number(v []byte) uint64 {
	if len(v) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(v)
}

// keyCount counts the keys that exist at the end of a history. It keeps a hash of
// each: with ten million keys the chance of being one off is in the millionths.
type keyCount struct {
	seed maphash.Seed
	live map[uint64]bool
	last int64
}

// revisionSize is that of a revision as a key, main_sub; a deletion has a t behind.
const revisionSize = 17

func (c *keyCount) add(k, v []byte) error {
	if len(k) < revisionSize || k[8] != '_' {
		return fmt.Errorf("%x is no revision", k)
	}
	var kv mvccpb.KeyValue
	if err := proto.Unmarshal(v, &kv); err != nil {
		return fmt.Errorf("read revision %d: %w", number(k), err)
	}
	c.last = int64(number(k)) //nolint:gosec // a revision
	if len(kv.Key) == 0 {
		return nil // what etcdutl writes to raise the revision in a restore
	}
	key := maphash.Bytes(c.seed, kv.Key)
	if len(k) > revisionSize && k[revisionSize] == 't' {
		delete(c.live, key)
	} else {
		c.live[key] = true
	}
	return nil
}
