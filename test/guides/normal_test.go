// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package guides

import (
	"regexp"
	"strings"
	"testing"
)

// various is what differs from run to run, in the order in which it is taken out.
var various = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`\x1b\[[0-9;]*m`), ""},
	// What was warned of lately, as a slow machine's probes.
	{regexp.MustCompile(`(?m)^(Warnings)?  +\S+ ago .*\n`), ""},
	// How long it took, in lines.
	{regexp.MustCompile(`(?m)^… .*\n`), ""},
	{regexp.MustCompile(`(?m)^✓ moved (the )?leadership.*\n`), ""},
	// Who leads is chance, and with it who is asked.
	{regexp.MustCompile(`\b(leader|Of:|of|from|to|have) +etcd-main-\d\b`), "$1 MEMBER"},
	{regexp.MustCompile(`\betcd-main-\d (evicted|leads)\b`), "MEMBER $1"},
	{regexp.MustCompile(`\b(etcd-main-\d +)(leader|voter|follower) +`), "$1ROLE  "},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`\b([0-9a-f]{32,64}|[0-9a-f]{12,16}|[0-9a-f]{8})\b`), "ID"},
	{regexp.MustCompile(`(context +)\S+ \(https://\S+\)`), "$1CONTEXT"},
	{regexp.MustCompile(`by \S+ at \S+ \(pid \d+\)`), "by SOMEBODY"},
	{regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+(:\d+)?\b`), "ADDRESS"},
	{regexp.MustCompile(`\bv\d+\.\d+\.\d+[-+.0-9A-Za-z]*`), "VERSION"},
	// etcd agrees on a cluster's version some seconds after the members are ready.
	{regexp.MustCompile(`storage (before )?3\.\d(\.\d)?, cluster 3\.\d\.\d`), "storage VERSION, cluster VERSION"},
	{regexp.MustCompile(`\b(etcd-webhook)-[0-9a-f]{6,10}-[a-z0-9]{5}\b`), "$1-POD"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ns|µs|ms|s|m|h|d))+\b`), "AGE"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(bytes|[KMG]?i?B|[KMG]i?|kB)\b`), "SIZE"},
	{regexp.MustCompile(`\b\d+(\.\d+)?%`), "PERCENT"},
	{regexp.MustCompile(`\bnode-\d+\b`), "NODE"},
	{regexp.MustCompile(`\bzone-[a-c]\b`), "ZONE"},
	{regexp.MustCompile(`(revision|REVISION|index|term) \d+`), "$1 NUMBER"},
	{regexp.MustCompile(`  +`), "  "},
}

// normal is output without what differs from run to run.
func normal(lines []string) string {
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	for _, v := range various {
		text = v.pattern.ReplaceAllString(text, v.word)
	}
	lines = strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestNormal(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ a, b string }{
		{"etcd-main-0   1/1   Running   0     12s", "etcd-main-0  1/1  Running  0  3m20s"},
		{"saved at 2026-11-20T10:00:00Z", "saved at 2026-11-21T11:11:11.5+01:00"},
		{"member 8e9e05c52164694d is the leader", "member aa9e05c52164694d is the leader"},
		{"20 KiB of 2.1 GiB, 1%", "1.5 MiB of 2.1 GiB, 13.5%"},
		{"node-1  zone-a", "node-3      zone-c"},
		{"etcd-webhook-7d9c5b6f4-abc12", "etcd-webhook-84cfd9b66c-x2zlk"},
	} {
		if a, b := normal([]string{row.a}), normal([]string{row.b}); a != b {
			t.Errorf("%q is %q, and %q is %q", row.a, a, row.b, b)
		}
	}
	for _, row := range []struct{ a, b string }{
		{"3 of 3 members", "2 of 3 members"},
		{"minAvailable 2", "minAvailable 3"},
		{"etcd-main-0", "etcd-main-1"},
	} {
		if normal([]string{row.a}) == normal([]string{row.b}) {
			t.Errorf("%q and %q are taken for the same", row.a, row.b)
		}
	}
}
