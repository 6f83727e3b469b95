// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package guides

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// various lists the parts of the output that differ from run to run, in the order of their
// removal.
var various = []struct {
	pattern *regexp.Regexp
	word    string
}{
	{regexp.MustCompile(`\x1b\[[0-9;]*m`), ""},
	// What kubectl logs of a watch that ended and that it began again.
	{regexp.MustCompile(`(?m)^[IWE]\d{4} .* reflector\.go:\d+\] .*\n?`), ""},
	// Recent warnings, for example about probes on a slow machine.
	{regexp.MustCompile(`(?m)^(Warnings)?  +\S+ ago .*\n`), ""},
	// A restart of a container after a failed probe on a slow machine.
	{regexp.MustCompile(`(Running +)\d+( \(\S+ ago\))? +`), "$1RESTARTS  "},
	// The retries of a drain while a pod is not ready for a moment.
	{regexp.MustCompile(`(?m)^error when evicting .*\(will retry after .*\n?`), ""},
	// The progress of a long transfer.
	{regexp.MustCompile(`(?m)^snapshot  .*/s(, \S+ left)?\n`), ""},
	// The number of ready endpoints, because the controller adds one after the other.
	{regexp.MustCompile(`(?m)^(✓ Service \S+ has) [123]( ready endpoints)`), "$1 SOME$2"},
	// Durations in lines.
	{regexp.MustCompile(`(?m)^… .*\n`), ""},
	{regexp.MustCompile(`(?m)^✓ moved (the )?leadership.*\n`), ""},
	// The leader, and the member that is asked. Both are random.
	{regexp.MustCompile(`\b(leader|Of:|Source:|of|from|to|have) +etcd-main-\d\b`), "$1 MEMBER"},
	{regexp.MustCompile(`\betcd-main-\d (evicted|leads|is evicted)\b`), "MEMBER $1"},
	{regexp.MustCompile(`\bevict etcd-main-\d\b`), "evict MEMBER"},
	// The members on the nodes of a drain plan, in the order of the nodes' names.
	{regexp.MustCompile(`\bteam-a/etcd-main-\d\b`), "team-a/MEMBER"},
	{regexp.MustCompile(`\bwithout etcd-main-\d( and etcd-main-\d)?\b`), "without MEMBERS"},
	// A member without a quorum becomes unready after some seconds.
	{regexp.MustCompile(`\b[23]( members may still come back)\b`), "SOME$1"},
	{regexp.MustCompile(`\b(etcd-main-\d +)(leader|voter|follower) +`), "$1ROLE  "},
	{regexp.MustCompile(`\b\d{8}T\d{6}(Z|\b)`), "TIME"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "UID"},
	{regexp.MustCompile(`\b([0-9a-f]{32,64}|[0-9a-f]{12,16}|[0-9a-f]{8})\b`), "ID"},
	{regexp.MustCompile(`(context +)\S+ \(https://\S+\)`), "$1CONTEXT"},
	{regexp.MustCompile(`by \S+ at \S+ \(pid \d+\)`), "by USER"},
	{regexp.MustCompile(`\b\d+\.\d+\.\d+\.\d+(:\d+)?\b`), "ADDRESS"},
	{regexp.MustCompile(`\bv\d+\.\d+\.\d+[-+.0-9A-Za-z]*`), "VERSION"},
	// The cluster version, on which etcd agrees some seconds after the members are ready.
	{regexp.MustCompile(`storage (before )?3\.\d(\.\d)?, cluster 3\.\d\.\d`), "storage VERSION, cluster VERSION"},
	{regexp.MustCompile(`\b(etcd-webhook)-[0-9a-f]{6,10}-[a-z0-9]{5}\b`), "$1-POD"},
	{regexp.MustCompile(`\b(\d+(\.\d+)?(ns|µs|ms|s|m|h|d))+\b`), "AGE"},
	// The quota of a database is in the manifest, so it stays in the output.
	{regexp.MustCompile(`(of a quota of \S+) ([KMG]iB)`), "${1}_$2"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?(bytes|[KMG]?i?B|[KMG]i?|kB)\b`), "SIZE"},
	{regexp.MustCompile(`\b\d+(\.\d+)?%`), "PERCENT"},
	{regexp.MustCompile(`\bnode-\d+\b`), "NODE"},
	{regexp.MustCompile(`\bzone-[a-c]\b`), "ZONE"},
	{regexp.MustCompile(`(revision|REVISION|index|term) \d+`), "$1 NUMBER"},
	{regexp.MustCompile(`  +`), "  "},
}

// normal returns the output without the parts that differ from run to run.
func normal(lines []string) string {
	text := withoutMachine(strings.TrimSpace(strings.Join(lines, "\n")))
	for _, v := range various {
		text = v.pattern.ReplaceAllString(text, v.word)
	}
	// Two replicas that led one after the other have reported the same.
	lines = slices.CompactFunc(strings.Split(text, "\n"), func(a, b string) bool {
		return a == b && strings.HasPrefix(a, "EtcdTopologyPolicy ")
	})
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// On an overloaded machine, check warns of leader changes and of restarted containers. These
// warnings also change the numbers of all warnings and of the passed checks.
var (
	machine = regexp.MustCompile(`(?m)^((quorum|members)\n-+\n)?‼ WARN +(Q007|M007) .*\n(  +.*\n)*\n?`)
	counted = regexp.MustCompile(`(?m)^‼ WARN +(\d+) warnings?, (\d+) OK`)
)

// withoutMachine returns what check would print on a machine that is not overloaded.
func withoutMachine(text string) string {
	found := len(machine.FindAllString(text, -1))
	if found == 0 {
		return text
	}
	text = machine.ReplaceAllString(text, "")
	return counted.ReplaceAllStringFunc(text, func(line string) string {
		var warnings, well int
		if _, err := fmt.Sscanf(counted.ReplaceAllString(line, "$1 $2"), "%d %d", &warnings, &well); err != nil {
			return line
		}
		plural := "s"
		if warnings-found == 1 {
			plural = ""
		}
		return fmt.Sprintf("‼ WARN    %d warning%s, %d OK", warnings-found, plural, well+found)
	})
}

func TestNormal(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ a, b string }{
		{"etcd-main-0   1/1   Running   0     12s", "etcd-main-0  1/1  Running  0  3m20s"},
		{"saved at 2026-11-20T10:00:00Z", "saved at 2026-11-21T11:11:11.5+01:00"},
		{"Source:    etcd-main-0 (follower", "Source:    etcd-main-1 (follower"},
		{"member 8e9e05c52164694d is the leader", "member aa9e05c52164694d is the leader"},
		{"20 KiB of 2.1 GiB, 1%", "1.5 MiB of 2.1 GiB, 13.5%"},
		{"20 KiB of a quota of 2.0 GiB, 16.0 KiB in use", "1.5 MiB of a quota of 2.0 GiB, 8 KiB in use"},
		{"node-1  zone-a", "node-3      zone-c"},
		{"etcd-webhook-7d9c5b6f4-abc12", "etcd-webhook-84cfd9b66c-x2zlk"},
		{"etcd-main-0   1/1     Running   0          37s   10.244.3.3", "etcd-main-0   1/1     Running   2 (10s ago)   37s   10.244.3.3"},
		{
			"backups\n-------\n‼ WARN    R001 something\n               fix: kubectl\n\n‼ WARN    1 warning, 22 OK, 2 not applicable",
			"quorum\n------\n‼ WARN    Q007 the leader is steady\n               it changed\n\nbackups\n-------\n‼ WARN    R001 something\n               fix: kubectl\n\n‼ WARN    2 warnings, 21 OK, 2 not applicable",
		},
		{"the file main.before-20261120T152030.db", "the file main.before-20261121T000001.db"},
		{"until 2026-11-20T12:04:40Z (in 4m40s)", "until 2026-11-21T09:00:01Z (in 9s)"},
		{"1. evict etcd-main-2, and wait", "1. evict etcd-main-0, and wait"},
		{"✓ etcd-main-2 is evicted", "✓ etcd-main-1 is evicted"},
		{"without etcd-main-0 and etcd-main-1, etcd cluster team-a/etcd-main would", "without etcd-main-1 and etcd-main-0, etcd cluster team-a/etcd-main would"},
		{"quorum is 2: without etcd-main-0 only 1 would stay", "quorum is 2: without etcd-main-2 only 1 would stay"},
		{"1  node-2  team-a/etcd-main-1  0", "1  node-4  team-a/etcd-main-0  0"},
		{"2 members may still come back", "3 members may still come back"},
		{"pod/etcd-main-2 evicted", "error when evicting pods/\"etcd-main-2\" -n \"team-a\" (will retry after 5s): Cannot evict pod\npod/etcd-main-2 evicted"},
	} {
		if a, b := normal([]string{row.a}), normal([]string{row.b}); a != b {
			t.Errorf("%q is %q, and %q is %q", row.a, a, row.b, b)
		}
	}
	for _, row := range []struct{ a, b string }{
		{"3 of 3 members", "2 of 3 members"},
		{"minAvailable 2", "minAvailable 3"},
		{"etcd-main-0", "etcd-main-1"},
		{"etcd-main-1: Its pod doesn't run", "etcd-main-2: Its pod doesn't run"},
		{"1 member may still come back", "2 members may still come back"},
		{"‼ WARN    R001 something", "‼ WARN    R002 something"},
		{"‼ WARN    1 warning, 22 OK", "‼ WARN    1 warning, 21 OK"},
		{"Service etcd-main-client has 3 ready endpoints", "Service etcd-main-client has 0 ready endpoints"},
		{"Running   0          37s", "Pending   0          37s"},
		{"20.0 KiB of a quota of 2.0 GiB", "20.0 KiB of a quota of 819.2 MiB"},
	} {
		if normal([]string{row.a}) == normal([]string{row.b}) {
			t.Errorf("%q and %q are treated as equal", row.a, row.b)
		}
	}
}
