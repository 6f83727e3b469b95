// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"slices"

	"go.etcd.io/bbolt"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
)

// Content describes the content of an etcd database.
type Content struct {
	// Hash is the CRC-32 of all content, which etcdutl snapshot status prints as the hash.
	Hash uint32
	// Revision is the store's revision. Revisions below Compacted can't be read; it is 0
	// for a store that was never compacted.
	Revision, Compacted int64
	// Written is the highest revision with content in the database, 0 if there is none. A
	// restore raises the revision from here.
	Written int64
	// Keys is the number of keys at Revision, Leases the number of granted leases.
	Keys, Leases int
	// Registry reports whether there are keys below /registry/, where Kubernetes API servers have their objects unless
	// --etcd-prefix is set.
	Registry bool
	// StorageVersion is the version of the format, such as 3.7.0; empty before etcd 3.6.
	StorageVersion string
	// ClusterVersion is the version that the members had agreed on; empty before etcd 3.5.
	ClusterVersion string
	// Index and Term are those of the last applied raft entry. Term is 0 before etcd 3.5.
	Index, Term uint64
	// Members are the members of the cluster that the database comes from.
	Members []Member
	// Auth reports whether authentication was enabled. A restored cluster has it too.
	Auth bool
	// Alarms are the types of the alarms that were raised, such as NOSPACE, each once and in order. A
	// restored cluster has them too, until they are disarmed.
	Alarms []string
}

// Member is a member as the database stores it.
type Member struct {
	ID         uint64   `json:"id"`
	Name       string   `json:"name"`
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs"`
	Learner    bool     `json:"isLearner"`
}

// readContent reads a whole database whose order has been checked.
func readContent(ctx context.Context, tx *bbolt.Tx) (Content, error) {
	var c Content
	if tx.Bucket([]byte("key")) == nil || tx.Bucket([]byte("meta")) == nil {
		return c, fmt.Errorf("%s is a bbolt database, but not of etcd: it has no bucket for keys", tx.DB().Path())
	}
	crc, store := crc32.New(crc32.MakeTable(crc32.Castagnoli)), keyCount{seed: maphash.MakeSeed(), live: map[uint64]bool{}}
	err := tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
		_, _ = crc.Write(name) // never fails
		return b.ForEach(func(k, v []byte) error {
			_, _ = crc.Write(k)
			_, _ = crc.Write(v)
			if string(name) != "key" {
				return c.addEntry(string(name), k, v)
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return store.add(k, v)
		})
	})
	c.Hash, c.Keys = crc.Sum32(), len(store.live)
	c.Written, c.Registry = store.last, store.registry
	c.Revision = max(1, c.Written, c.Compacted) // a new store starts at 1
	return c, err
}

// addEntry takes an entry of any bucket but that of the keys.
func (c *Content) addEntry(bucket string, k, v []byte) error {
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
	case "alarm":
		return c.addAlarm(k)
	case "lease":
		c.Leases++
	case "members":
		var m Member
		if err := json.Unmarshal(v, &m); err != nil {
			return fmt.Errorf("read member %s: %w", k, err)
		}
		c.Members = append(c.Members, m)
	}
	return nil
}

// mostAlarms is how many types of alarms are read. etcd has two.
const mostAlarms = 16

// addAlarm takes an alarm. etcd stores the whole alarm as a key, and doesn't start from one that it can't read.
func (c *Content) addAlarm(k []byte) error {
	var a pb.AlarmMember
	if err := proto.Unmarshal(k, &a); err != nil {
		return fmt.Errorf("read alarm %x: %w", k[:min(len(k), 32)], err)
	}
	if a.GetAlarm() == pb.AlarmType_NONE {
		return nil // it has no effect
	}
	name := a.GetAlarm().String()
	if at, found := slices.BinarySearch(c.Alarms, name); !found {
		c.Alarms = slices.Insert(c.Alarms, at, name)
	}
	if len(c.Alarms) > mostAlarms {
		return fmt.Errorf("the database has more than %d types of alarms, and so is not of etcd", mostAlarms)
	}
	return nil
}

// number returns the first 8 bytes of b as a number, 0 if it is shorter. A revision begins
// with such a number.
func number(v []byte) uint64 {
	if len(v) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(v)
}

// keyCount counts the keys that exist after the last revision. It keeps only a hash of each
// key. With ten million keys the probability of a wrong count is a few in a million.
type keyCount struct {
	seed maphash.Seed
	live map[uint64]bool
	last int64
	// registry reports whether a key is below registryPrefix.
	registry bool
}

// registryPrefix is where Kubernetes API servers have their objects.
var registryPrefix = []byte("/registry/")

// revisionSize is the size of a revision as a key: main, an underscore, sub. The key of a
// deletion has a t behind it.
const revisionSize = 17

// add counts one entry of the bucket of keys.
func (c *keyCount) add(k, v []byte) error {
	if len(k) < revisionSize || k[8] != '_' {
		return fmt.Errorf("%x is not a revision", k)
	}
	var kv mvccpb.KeyValue
	if err := proto.Unmarshal(v, &kv); err != nil {
		return fmt.Errorf("read revision %d: %w", number(k), err)
	}
	c.last = int64(number(k)) //nolint:gosec // a revision
	if len(kv.Key) == 0 {
		return nil // etcdutl writes such an entry to raise the revision in a restore
	}
	c.registry = c.registry || bytes.HasPrefix(kv.Key, registryPrefix)
	key := maphash.Bytes(c.seed, kv.Key)
	if len(k) > revisionSize && k[revisionSize] == 't' {
		delete(c.live, key)
	} else {
		c.live[key] = true
	}
	return nil
}
