// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// AsksHealth reports whether a probe fails for a reason that a restart can't repair: an
// alarm, or the loss of quorum. It returns what the probe asks for, as messages show it. It
// is false for a probe that can't be parsed, such as a script.
func AsksHealth(p *corev1.Probe) (what string, asks bool) {
	switch {
	case p == nil:
		return "", false
	case p.HTTPGet != nil:
		path, query := request(p.HTTPGet)
		spared := slices.Contains(query["exclude"], "NOSPACE") && serializable(query)
		return "GET " + p.HTTPGet.Path, path == "/health" && !spared || strings.HasPrefix(path, "/readyz")
	case p.Exec != nil:
		return etcdctl(p.Exec)
	}
	return "", false
}

// ScriptOf returns the program of a probe of which it is not known what it does, empty for none.
func ScriptOf(p *corev1.Probe) string {
	if p == nil || p.Exec == nil {
		return ""
	}
	return script.FileOf(p.Exec.Command)
}

// FailsOnNoSpace reports whether a probe by HTTP asks etcd for its health, which the alarm NOSPACE makes false, also on
// a member without a quorum.
func FailsOnNoSpace(p *corev1.Probe) bool {
	if p == nil || p.HTTPGet == nil {
		return false
	}
	path, query := request(p.HTTPGet)
	return path == "/health" && !slices.Contains(query["exclude"], "NOSPACE")
}

// NeedsQuorum reports whether a probe of etcd's container fails while the member has no
// quorum. It assumes so of a script. On the client port each HTTP path fails, since etcd
// serves none before it has joined the other members. But it accepts connections.
func (c Config) NeedsQuorum(container *corev1.Container, p *corev1.Probe) bool {
	switch {
	case p == nil || p.TCPSocket != nil:
		return false
	case p.HTTPGet == nil || !ListensOn(c.ListenMetrics, ProbePort(container, p.HTTPGet)):
		return true
	}
	return asksQuorum(p.HTTPGet)
}

// ShowsQuorum reports whether a probe may distinguish a member that serves writes from one that has lost the
// others. It assumes so of a script and of paths that etcd does not have, which something else serves.
func ShowsQuorum(p *corev1.Probe) bool {
	return p != nil && p.TCPSocket == nil && (p.HTTPGet == nil || asksQuorum(p.HTTPGet))
}

// asksQuorum reports whether the path of a probe is none that etcd answers without its quorum.
func asksQuorum(get *corev1.HTTPGetAction) bool {
	path, query := request(get)
	return path != "/livez" && path != "/metrics" && (path != "/health" || !serializable(query))
}

// FailsOnLearner reports whether a readiness probe fails on a learner of a version of etcd,
// so that a learner is no endpoint of a Service. It returns why, or why not.
func FailsOnLearner(p *corev1.Probe, etcd string) (why string, fails bool) {
	switch {
	case p == nil:
		return "it has no readiness probe", false
	case p.Exec != nil:
		if _, asks := etcdctl(p.Exec); asks {
			return "its readiness probe asks etcdctl, which a learner refuses", true
		}
		return fmt.Sprintf("it is unknown whether its readiness probe %q fails on a learner", strings.Join(p.Exec.Command, " ")), false
	case p.HTTPGet == nil:
		return "its readiness probe only connects", false
	}
	at := fmt.Sprintf("its readiness probe %s of etcd %s", p.HTTPGet.Path, etcd)
	v, err := version.ParseGeneric(etcd)
	path, query := request(p.HTTPGet)
	switch {
	case err != nil:
	// /readyz checks for learners from 3.5.19 on, and /health does in 3.4.
	case path == "/readyz" && !slices.Contains(query["exclude"], "non_learner") && v.AtLeast(version.MustParseGeneric("3.5.19")),
		path == "/health" && len(query) == 0 && v.Major() == 3 && v.Minor() == 4:
		return at + " fails on a learner", true
	}
	return at + " does not fail on a learner", false
}

// request returns the path and the query that a probe requests. A query that can't be parsed
// has the parameters that can.
func request(get *corev1.HTTPGetAction) (string, url.Values) {
	path, query, _ := strings.Cut(get.Path, "?")
	values, _ := url.ParseQuery(query)
	return path, values
}

func serializable(query url.Values) bool { return query.Get("serializable") == "true" }

// etcdctl returns the command of etcdctl that a probe runs, and reports whether it needs a
// member that serves linearizable reads. It is false for any other program.
func etcdctl(run *corev1.ExecAction) (command string, asks bool) {
	all := strings.FieldsFunc(strings.Join(run.Command, " "), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()'\"", r) })
	tool := slices.ContainsFunc(all, func(w string) bool { return w == "etcdctl" || strings.HasSuffix(w, "/etcdctl") })
	asks = tool && (slices.Contains(all, "health") || slices.Contains(all, "get"))
	if i := slices.Index(all, "endpoint"); i >= 0 && i+1 < len(all) {
		return "etcdctl endpoint " + all[i+1], asks
	}
	return "etcdctl", asks
}

// ProbePort returns the number of the port that a probe of a container names.
func ProbePort(c *corev1.Container, get *corev1.HTTPGetAction) string {
	name := get.Port.String()
	for _, p := range c.Ports {
		if p.Name == name {
			return strconv.Itoa(int(p.ContainerPort))
		}
	}
	return name
}

// ListensOn reports whether one of the URLs has a port.
func ListensOn(urls []string, port string) bool {
	return slices.ContainsFunc(urls, func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && u.Port() == port
	})
}
