// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"slices"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// TestAlarms reads alarms in the form in which etcd stores them.
func TestAlarms(t *testing.T) {
	t.Parallel()
	key := func(member uint64, kind pb.AlarmType) []byte {
		b, err := proto.Marshal(&pb.AlarmMember{MemberID: member, Alarm: kind})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	kinds := func(n int) (keys [][]byte) {
		for i := range n {
			keys = append(keys, key(7, pb.AlarmType(100+i)))
		}
		return keys
	}
	for _, row := range []struct {
		name   string
		keys   [][]byte
		want   []string
		number int
		err    string
	}{
		{name: "none"},
		{name: "out of space", keys: [][]byte{key(7, pb.AlarmType_NOSPACE)}, want: []string{"NOSPACE"}},
		{name: "of two members", keys: [][]byte{key(7, pb.AlarmType_NOSPACE), key(8, pb.AlarmType_NOSPACE)}, want: []string{"NOSPACE"}},
		{name: "two types", keys: [][]byte{key(7, pb.AlarmType_NOSPACE), key(8, pb.AlarmType_CORRUPT)}, want: []string{"CORRUPT", "NOSPACE"}},
		{name: "of no member", keys: [][]byte{key(0, pb.AlarmType_CORRUPT)}, want: []string{"CORRUPT"}},
		{name: "without a type", keys: [][]byte{key(7, pb.AlarmType_NONE)}},
		{name: "of a later etcd", keys: [][]byte{key(7, 3)}, want: []string{"3"}},
		{name: "with a field of a later etcd", keys: [][]byte{append(key(7, pb.AlarmType_NOSPACE), 0x18, 1)}, want: []string{"NOSPACE"}},
		{name: "as many types as are read", keys: kinds(mostAlarms), number: mostAlarms},
		{name: "more types", keys: kinds(mostAlarms + 1), err: "more than 16 types of alarms"},
		{name: "cut", keys: [][]byte{key(1<<60, pb.AlarmType_NOSPACE)[:4]}, err: "read alarm 08808080: "},
		{name: "text", keys: [][]byte{[]byte(strings.Repeat("NOSPACE", 9))}, err: "read alarm 4e4f5350414345"},
	} {
		var got Content
		var err error
		for _, k := range row.keys {
			err = errors.Join(err, got.addEntry("alarm", k, nil))
		}
		if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %v, want %q", row.name, err, row.err)
		}
		if err == nil && row.number == 0 && !slices.Equal(got.Alarms, row.want) || row.number > 0 && len(got.Alarms) != row.number {
			t.Errorf("%s: %q, want %q", row.name, got.Alarms, row.want)
		}
	}
}
