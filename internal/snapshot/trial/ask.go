// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Result is what etcd answers. Keys, bytes and prefixes are those at the revision of the snapshot: leases of the
// snapshot can expire while etcd runs.
type Result struct {
	// Version is that of etcd.
	Version string
	// Revision is the one at which etcd has started.
	Revision int64
	Keys     int64
	// Size is the size of the database in bytes, and InUse what data has of it.
	Size, InUse int64
	// Hash is etcd's hash of the keys (HashKV) at the revision of the snapshot.
	Hash   uint32
	Leases int
	// Alarms are those that members have raised, as NOSPACE.
	Alarms []string
	// Prefixes are the biggest, by bytes.
	Prefixes []Prefix
}

// Prefix is what the keys with one beginning have.
type Prefix struct {
	Prefix string
	Keys   int64
	// Bytes are those of keys and values.
	Bytes int64
}

const (
	// mostPrefixes is how many prefixes a result has.
	mostPrefixes = 10
	// page is how many keys are read at once. A value can have more than a megabyte.
	page = 100
)

// ask reads everything at a revision.
func (s *server) ask(ctx context.Context, revision int64) (r Result, err error) {
	c, status, err := s.connect(ctx)
	if err != nil {
		return r, err
	}
	defer c.Close()
	r = Result{Version: status.Version, Revision: status.Header.GetRevision(), Size: status.DbSize, InUse: status.DbSizeInUse}
	if r.Revision < revision {
		return r, damaged("etcd is at revision %d, and the file at %d", r.Revision, revision)
	}
	hash, err := c.HashKV(ctx, endpoint, revision)
	if err != nil {
		return r, fmt.Errorf("ask etcd for its hash: %w", err)
	}
	r.Hash = hash.Hash
	leases, err := c.Leases(ctx)
	if err != nil {
		return r, fmt.Errorf("ask etcd for its leases: %w", err)
	}
	r.Leases = len(leases.Leases)
	alarms, err := c.AlarmList(ctx)
	if err != nil {
		return r, fmt.Errorf("ask etcd for its alarms: %w", err)
	}
	for _, a := range alarms.Alarms {
		r.Alarms = append(r.Alarms, a.Alarm.String())
	}
	err = r.read(ctx, c, revision)
	return r, err
}

// read reads all keys.
func (r *Result) read(ctx context.Context, c *clientv3.Client, revision int64) error {
	found := map[string]*Prefix{}
	for from := "\x00"; ; {
		got, err := c.Get(ctx, from, clientv3.WithFromKey(), clientv3.WithRev(revision), clientv3.WithLimit(page))
		if err != nil {
			return fmt.Errorf("read the keys: %w", err)
		}
		for _, kv := range got.Kvs {
			r.Keys++
			name := prefixOf(string(kv.Key))
			p := found[name]
			if p == nil {
				p = &Prefix{Prefix: name}
				found[name] = p
			}
			p.Keys++
			p.Bytes += int64(len(kv.Key) + len(kv.Value))
		}
		if !got.More || len(got.Kvs) == 0 {
			break
		}
		from = string(got.Kvs[len(got.Kvs)-1].Key) + "\x00"
	}
	for _, p := range found {
		r.Prefixes = append(r.Prefixes, *p)
	}
	slices.SortFunc(r.Prefixes, func(a, b Prefix) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Prefix, b.Prefix))
	})
	r.Prefixes = r.Prefixes[:min(len(r.Prefixes), mostPrefixes)]
	return nil
}

// prefixOf returns the first two parts of a key: /registry/pods/ of /registry/pods/team/main-0. It is empty for a
// key without a slash behind its beginning.
func prefixOf(key string) string {
	end := 0
	for parts := 0; parts < 2; {
		i := strings.IndexByte(key[end:], '/')
		if i < 0 {
			break
		}
		if end += i + 1; end > 1 { // a slash at the beginning is no part
			parts++
		}
	}
	if end == 1 {
		return ""
	}
	return key[:end]
}
