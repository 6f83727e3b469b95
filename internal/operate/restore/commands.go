// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"

	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// minor returns the minor release of a version, 0 where it has none.
func minor(text string) uint {
	v, err := version.ParseGeneric(text)
	if err != nil {
		return 0
	}
	return v.Minor()
}

// kubectl is a command with the flags of this cluster.
func (r Plan) kubectl(format string, args ...any) string {
	return "kubectl " + r.Flags + " " + fmt.Sprintf(format, args...)
}

// plugin is a command of kubectl etcd with the flags of this cluster.
func (r Plan) plugin(format string, args ...any) string {
	return "kubectl etcd " + r.Flags + r.Login + " " + fmt.Sprintf(format, args...)
}

// target is the cluster as an argument of kubectl etcd.
func (r Plan) target() string {
	if r.Druid != nil {
		return "etcd/" + r.Owner.Name
	}
	return "statefulset/" + r.Owner.StatefulSet
}

// tool is the program that restores, for the members' own version.
func (r Plan) tool() string {
	if minor(r.Etcd) == 4 {
		return "ETCDCTL_API=3 etcdctl"
	}
	return "etcdutl"
}

// toolNote says which release of it.
func (r Plan) toolNote() string {
	switch m := minor(r.Etcd); {
	case m == 4:
		return "etcdctl of etcd 3.4, 3.4.27 or later: there is no etcdutl of that release."
	case m == 5:
		return "etcdutl of etcd 3.5, 3.5.10 or later. A later minor release makes data that 3.5 doesn't read."
	case m > 5:
		return fmt.Sprintf("etcdutl of etcd 3.%d: etcdctl has no snapshot restore any more, and another minor release may make data that this one doesn't read.", m)
	}
	return "etcdutl of the members' own minor release; etcdctl has no snapshot restore since 3.6."
}

// restoreCommand makes a data directory on this machine.
func (r Plan) restoreCommand(m Member, cluster []Member, dir string) string {
	lines := []string{fmt.Sprintf("%s snapshot restore %s", r.tool(), Quote(r.File)), "--name " + m.Name, "--initial-cluster " + initialCluster(cluster),
		fmt.Sprintf("--initial-cluster-token %s-restored-%s", r.Owner.StatefulSet, r.stamp()),
		"--initial-advertise-peer-urls " + m.PeerURL, "--data-dir " + dir}
	if r.Files.WALDir != "" {
		lines = append(lines, "--wal-dir "+dir+".wal")
	}
	return strings.Join(append(lines, r.bumpFlags()...), " \\\n  ")
}

func (r Plan) bumpFlags() []string {
	var flags []string
	if r.Bump > 0 {
		flags = append(flags, fmt.Sprintf("--bump-revision %d --mark-compacted", r.Bump))
	}
	if !r.Snapshot.Hashed {
		flags = append(flags, "--skip-hash-check")
	}
	return flags
}

func initialCluster(members []Member) string {
	parts := make([]string, len(members))
	for i, m := range members {
		parts[i] = m.Name + "=" + m.PeerURL
	}
	return strings.Join(parts, ",")
}

// Quote makes one word of it for a shell.
func Quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+", c)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// stamp tells this restore from others: its files, and what it sets aside.
func (r Plan) stamp() string { return r.At.UTC().Format("20060102T150405") }

// dir is where data directories are made on this machine, one for each pod.
func (r Plan) dir() string { return "restored-" + r.stamp() }

// aside is what the old data is called from then on.
func (r Plan) aside(path string) string { return path + ".before-" + r.stamp() }
