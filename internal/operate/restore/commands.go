// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// plugin returns a command of kubectl etcd for this cluster.
func (r Plan) plugin(format string, args ...any) string { return r.Flags.Plugin(format, args...) }

// Target returns the cluster as an argument of kubectl etcd.
func (r Plan) Target() string {
	kind, name := r.object()
	return string(kind) + "/" + name
}

// tool returns the program that restores, for the version of the members. Each line has the
// arguments of one line of the printed command.
func (r Plan) tool(lines ...[]string) step.Program {
	p := step.Program{Lines: append([][]string{{"etcdutl", "snapshot", "restore", r.File}}, lines...)}
	if etcd.Release(r.Etcd).Minor() == 4 {
		p.Env, p.Lines[0][0] = []string{"ETCDCTL_API=3"}, "etcdctl"
	}
	p.Lines[0][0] = cmp.Or(r.Tool, p.Lines[0][0])
	p.Lines = append(p.Lines, r.bumpFlags()...)
	return p
}

// toolNote returns which release of the tool is needed.
func (r Plan) toolNote() string {
	switch m := etcd.Release(r.Etcd).Minor(); {
	case m == 4:
		return "etcdctl of etcd 3.4, 3.4.27 or later: there is no etcdutl of that release."
	case m == 5:
		return "etcdutl of etcd 3.5, 3.5.10 or later. A later minor release makes data that 3.5 doesn't read."
	case m > 5:
		return fmt.Sprintf("etcdutl of etcd 3.%d: etcdctl no longer has snapshot restore, and another minor release may make data that this one doesn't read.", m)
	}
	return "etcdutl of the members' own minor release; etcdctl has no snapshot restore since 3.6."
}

// makeDataDir returns the command that makes a data directory on this machine.
func (r Plan) makeDataDir(m Member, cluster []Member, dir string) step.Action {
	lines := [][]string{
		{"--name", m.Name},
		{"--initial-cluster", initialCluster(cluster)},
		{"--initial-cluster-token", fmt.Sprintf("%s-restored-%s", r.Owner.StatefulSet, r.stamp())},
		{"--initial-advertise-peer-urls", m.PeerURL},
		{"--data-dir", dir},
	}
	if r.Files.WALDir != "" {
		lines = append(lines, []string{"--wal-dir", dir + ".wal"})
	}
	return r.tool(lines...)
}

func (r Plan) bumpFlags() [][]string {
	var flags [][]string
	if r.Bump > 0 {
		flags = append(flags, []string{"--bump-revision", strconv.FormatInt(r.Bump, 10), "--mark-compacted"})
	}
	if !r.Snapshot.Hashed {
		flags = append(flags, []string{"--skip-hash-check"})
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

// stamp distinguishes this restore from others: its files, and the old data.
func (r Plan) stamp() string { return r.At.UTC().Format("20060102T150405") } //nolint:forbidigo // a file name

// Local returns the files and directories of this machine in which the steps make data.
func (r Plan) Local() []string { return []string{r.dir(), r.dir() + ".db", r.probeFile()} }

// dir returns the directory on this machine with a data directory for each pod.
func (r Plan) dir() string { return "restored-" + r.localStamp() }

// localStamp distinguishes the files of this restore from those of a restore into another cluster that begins in
// the same second and the same directory. The other cluster may have the same names, in another Kubernetes cluster.
func (r Plan) localStamp() string {
	const length = 8
	uid := string(r.Owner.UID)
	return strings.TrimSuffix(r.stamp()+"-"+uid[:min(length, len(uid))], "-")
}

// aside returns the new path of old data.
func (r Plan) aside(path string) string { return path + ".before-" + r.stamp() }
