// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// probed returns the container that the checks on probes judge: the etcd container of the pod
// that is created next, because a fix changes that one.
func (f *Facts) probed() (*corev1.Container, []Finding) {
	if f.StatefulSet.Err != nil {
		return nil, []Finding{unknown("the StatefulSet", f.StatefulSet.Err)}
	}
	var c *corev1.Container
	if f.StatefulSet.Value != nil {
		c = etcdContainer(etcdconf.PodOfTemplate(f.StatefulSet.Value))
	}
	switch {
	case c != nil:
		return c, nil
	case f.Owner.WithoutStatefulSet():
		return nil, notApplicable("no StatefulSet runs the members")
	}
	return nil, notApplicable("there is no StatefulSet yet")
}

func livenessProbe(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	what, asks := etcdconf.AsksHealth(c.LivenessProbe)
	switch file := etcdconf.ScriptOf(c.LivenessProbe); {
	case asks:
	case file == "":
		return nil
	case file == f.Owner.Product().HealthScript:
		what = "etcdctl endpoint health by " + file
	default:
		return []Finding{{Level: Unknown, Message: "whether the liveness probe fails on an alarm or without quorum: what " + file + " does is not known",
			Fix: "read the script; unless it checks only whether the process lives, use the cure of W001 (kubectl etcd explain W001)"}}
	}
	path, why := f.livePath()
	return []Finding{warning(f.patchLiveness(c, path),
		"the liveness probe (%s) fails on an alarm or without quorum: the kubelet then restarts the members, which repairs neither%s", what, why)}
}

// patchLiveness returns how to have the liveness probe of a container request a path.
func (f *Facts) patchLiveness(c *corev1.Container, path string) string {
	sts := f.StatefulSet.Value
	spec, field, named := &sts.Spec.Template.Spec, "containers", func(o corev1.Container) bool { return o.Name == c.Name }
	i := slices.IndexFunc(spec.Containers, named)
	if i < 0 {
		i, field = slices.IndexFunc(spec.InitContainers, named), "initContainers" // a native sidecar
	}
	switch {
	case c.LivenessProbe.HTTPGet == nil:
		return f.changeTemplate("use "+path+", which --listen-metrics-urls serves without a certificate", "")
	case !f.writable() || i < 0:
		return f.changeTemplate("use "+path, "")
	}
	patch := fmt.Sprintf(`[{"op":"replace","path":"/spec/template/spec/%s/%d/livenessProbe/httpGet/path","value":%q}]`, field, i, path)
	return f.restarting(f.whenHealthy(f.kubectl("patch statefulset " + sts.Name + " --type=json -p '" + patch + "'")))
}

// livePath returns the path by which a liveness probe checks only whether the process lives, and why it is not /livez. A
// version that has no /livez answers it with 404, so that the kubelet restarts the member again and again.
func (f *Facts) livePath() (path, why string) {
	const older, since = "/health?exclude=NOSPACE&serializable=true", "which came with 3.4.29 and 3.5.11"
	names := slices.Sorted(maps.Keys(f.versions()))
	if len(names) == 0 || f.Survey.Err != nil {
		return older, "; the members' version is not known, and /livez came with 3.4.29 and 3.5.11"
	}
	for _, name := range names {
		if v := etcd.Release(name); !v.AtLeast(etcd.Release("3.5.11")) && (v.Minor() != 4 || !v.AtLeast(etcd.Release("3.4.29"))) {
			return older, "; etcd " + name + " has no /livez, " + since
		}
	}
	return "/livez", ""
}

func readinessProbe(f *Facts) []Finding {
	c, found := f.probed()
	switch {
	case c == nil:
		return found
	case c.ReadinessProbe == nil:
		return []Finding{warning(f.changeTemplate("add a readiness probe on /readyz (etcd 3.4.29, 3.5.11 or newer)", ""),
			"the container %s has no readiness probe: a pod counts as Ready as soon as its process runs, for clients, rollouts and budgets alike", c.Name)}
	case c.ReadinessProbe.TCPSocket != nil:
		return []Finding{info(f.changeTemplate("use /readyz", ""), "the readiness probe only checks whether the port is open: if a member hangs, Kubernetes still counts it as ready and allows the eviction of another one")}
	}
	return nil
}

func probesPass(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	pod := f.member()
	s, found := f.servingOf(pod)
	if s == nil {
		return found
	}
	for name, p := range map[string]*corev1.Probe{"liveness": c.LivenessProbe, "readiness": c.ReadinessProbe, "startup": c.StartupProbe} {
		if p == nil || p.HTTPGet == nil || !etcdconf.ListensOn(s.ListenClient, etcdconf.ProbePort(c, p.HTTPGet)) || etcdconf.ListensOn(s.ListenMetrics, etcdconf.ProbePort(c, p.HTTPGet)) {
			continue
		}
		tls := s.ClientTLS.Cert != "" || s.ClientTLS.Auto
		switch {
		case tls && s.ClientTLS.DemandsClient():
			found = append(found, failure(f.restarting(f.change(f.asSet("add --listen-metrics-urls=http://0.0.0.0:2381")+" and probe that port", "")), "the %s probe asks the client port, which demands a certificate, and the kubelet has none", name))
		case tls && p.HTTPGet.Scheme != corev1.URISchemeHTTPS:
			found = append(found, failure(f.restarting(f.change("set its scheme to HTTPS", "")), "the %s probe speaks HTTP to a port that serves TLS", name))
		}
	}
	return found
}

// waitsForReady reports whether pods are made one after the other, each when the one before is
// Ready, and Ready needs quorum.
func waitsForReady(f *Facts) bool {
	c, _ := f.probed()
	if c == nil {
		return false
	}
	_, asks := etcdconf.AsksHealth(c.ReadinessProbe)
	return asks && owner.ReplicasOf(f.StatefulSet.Value) > 1 && f.StatefulSet.Value.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
}

func orderedStart(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	if !waitsForReady(f) {
		return nil
	}
	what, _ := etcdconf.AsksHealth(c.ReadinessProbe)
	report, fix := warning, f.whenHealthy(f.createAgain())
	if f.Pods.Err == nil && len(f.Pods.Value) < f.Size() && f.readyPods() < len(f.Pods.Value) {
		report, fix = failure, f.createAgain() // the members wait for each other now
	}
	return []Finding{report(fix,
		"members start one after the other, each when the one before is Ready, and Ready (%s) needs quorum: after an outage of all, the first waits for the others and never becomes Ready", what)}
}

// createAgain returns how to create a StatefulSet again so that it starts its pods at once. Its pods run on. The file
// has the StatefulSet as it was, of which there may be no other copy.
func (f *Facts) createAgain() string {
	name := f.Owner.StatefulSet
	if !f.writable() {
		// Its owner would create it again as it was.
		return f.change("have its StatefulSet created again with podManagementPolicy Parallel", "")
	}
	file := name + "-saved.yaml"
	return f.orContinue(strings.Join([]string{
		f.kubectl("get statefulset " + name), // a shell empties the file before it has the next answer
		f.kubectl("get statefulset "+name+" -o yaml") + " > " + file,
		f.kubectl("delete statefulset " + name + " --cascade=orphan"),
		"sed 's/podManagementPolicy: OrderedReady/podManagementPolicy: Parallel/' " + file + " | " + f.kubectl("create -f -"),
	}, " && "))
}
