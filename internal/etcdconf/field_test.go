// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// seen is what is read of a pod: how strong the evidence is, the member's container, the peers that it lists, why these are not
// all, and what its commands do to members.
type seen struct {
	evidence                   Evidence
	member, own, peers         string
	unknown, changes, mentions string
}

// TestFieldPods has pods as they are found in clusters, each a specification with what is read of it.
func TestFieldPods(t *testing.T) {
	t.Parallel()
	for _, row := range fieldPods {
		pod := &corev1.Pod{}
		pod.Name, pod.Namespace = "p", "n"
		if err := yaml.UnmarshalStrict([]byte(row.spec), &pod.Spec); err != nil {
			t.Fatalf("%s: %v", row.id, err)
		}
		got := seenOf(pod)
		if !strings.Contains(got.unknown, row.want.unknown) || row.want.unknown == "" && got.unknown != "" {
			t.Errorf("%s: unknown %q, want %q", row.id, got.unknown, row.want.unknown)
		}
		if !strings.Contains(got.mentions, row.want.mentions) || row.want.mentions == "" && got.mentions != "" {
			t.Errorf("%s: hints %q, want %q", row.id, got.mentions, row.want.mentions)
		}
		got.unknown, got.mentions = row.want.unknown, row.want.mentions
		if got != row.want {
			t.Errorf("%s:\n%+v, want\n%+v", row.id, got, row.want)
		}
		checkReduced(t, row.id, pod)
	}
}

func seenOf(pod *corev1.Pod) seen {
	m := MemberIn(pod, fieldContents)
	got := seen{evidence: m.Evidence, member: nameOf(m.Container), mentions: strings.Trim(fmt.Sprint(HintsOf(pod)), "[]")}
	for _, c := range MemberChanges(pod, fieldContents) {
		if !c.Elsewhere {
			got.changes += c.Hook + c.Verb + c.Unread + ";"
		}
	}
	if m.Evidence >= Shown {
		p := PeersOfPod(pod)
		got.own, got.peers, got.unknown = strings.Trim(fmt.Sprint(p.Own), "[]"), strings.Trim(fmt.Sprint(p.Listed), "[]"), p.Unknown
	}
	return got
}

// fieldContents has the scripts of a ConfigMap, and an environment.
func fieldContents(kind, name string) (map[string][]byte, error) {
	objects := map[string]map[string]string{
		"scripts": {
			"start.sh":  "#!/usr/bin/env bash\nset -e\n. /scripts/common.sh\nrun_etcd \"$@\"\n",
			"common.sh": "run_etcd() { exec etcd --name a \"$@\"; }\n",
			"plain":     "exec /usr/bin/etcd --name a\n",
		},
		"environment": {"ETCD_NAME": "a", "ETCD_LISTEN_CLIENT_URLS": "http://0.0.0.0:2379", "BIN": "/usr/bin/etcd"},
	}
	if kind != "ConfigMap" || objects[name] == nil {
		return nil, &MissingError{Kind: kind, Namespace: "n", Name: name}
	}
	data := map[string][]byte{}
	for key, value := range objects[name] {
		data[key] = []byte(value)
	}
	return data, nil
}
