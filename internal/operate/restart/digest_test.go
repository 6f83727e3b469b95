// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestChangedBetween: a restart ends between two members if the content that they read has changed since it began, and
// goes on if only labels have.
func TestChangedBetween(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/namespaces/team/secrets/settings"
	for _, row := range []struct {
		name   string
		change func(apitest.Object)
		want   string
	}{
		{"the content", func(o apitest.Object) { o["data"] = apitest.Object{"a": "Mg=="} }, "Secret settings has changed since the restart began, and main-"},
		{"another key", func(o apitest.Object) { o["data"] = apitest.Object{"a": "MQ==", "b": "MQ=="} }, "end this restart with kubectl etcd restart statefulset/main -n team --abort, and begin another one"},
		{"a label", func(o apitest.Object) {
			operatetest.Field(o, "metadata")["labels"] = apitest.Object{"team": "b"}
		}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newStage(t)
			c.Put(path, apitest.Object{"apiVersion": "v1", "kind": "Secret", "metadata": apitest.Object{"namespace": "team", "name": "settings", "uid": "u-1"}, "data": apitest.Object{"a": "MQ=="}})
			set := c.Get(operatetest.Path("StatefulSet", "main"))
			spec := operatetest.Field(set, "spec", "template", "spec")
			volumes, _ := spec["volumes"].([]any)
			spec["volumes"] = append(volumes, apitest.Object{"name": "settings", "secret": apitest.Object{"secretName": "settings"}})
			c.Put(operatetest.Path("StatefulSet", "main"), set)
			j, r := c.begun(t)
			if text := r.Config["Secret settings"]; !strings.HasPrefix(text, digestKind) || strings.Contains(text, "u-1") {
				t.Errorf("the journal has %q", r.Config)
			}
			changed := false
			j.Logf = func(format string, _ ...any) {
				if !changed && strings.Contains(format, "is evicted") {
					changed = true
					o := c.Get(path)
					row.change(o)
					c.Put(path, o)
				}
			}
			_, err := j.Run(t.Context(), r)
			if (err != nil) != (row.want != "") || err != nil && !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %q", err, row.want)
			}
			if n := len(j.Restarted(t.Context(), r)); n == 3 != (row.want == "") {
				t.Errorf("%d members were restarted", n)
			}
		})
	}
}

// TestDigest: only what pods read counts, and the same content of two objects has two digests.
func TestDigest(t *testing.T) {
	t.Parallel()
	all, some := reference{whole: true}, reference{keys: []string{"a"}}
	one := map[string][]byte{"a": []byte("1"), "b": []byte("2")}
	other := map[string][]byte{"a": []byte("1"), "b": []byte("3")}
	shifted := map[string][]byte{"a": []byte("1b"), "": []byte("2")}
	switch {
	case all.digest("u", one) == all.digest("u", other), all.digest("u", one) == all.digest("u", shifted):
		t.Error("another content has the same digest")
	case some.digest("u", one) != some.digest("u", other):
		t.Error("a key that no pod reads counts")
	case all.digest("u", one) == all.digest("v", one):
		t.Error("the digest has no key")
	}
	before := map[string]string{"ConfigMap a": "uid/1", "Secret b": digestKind + "1", "Secret c": digestKind + "1"}
	if got := changedSince(before, map[string]string{"ConfigMap a": digestKind + "2", "Secret b": digestKind + "2"}); len(got) != 1 || got[0] != "Secret b" {
		t.Errorf("%q has changed", got)
	}
}
