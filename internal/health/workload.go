// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/policy/words"
)

func workloadChecks() []Check {
	return []Check{
		{
			ID: "W001", Category: Workload, Title: "the liveness probe asks only whether the process lives",
			Doc:  "A probe on /health, /readyz or etcdctl endpoint health fails while a NOSPACE alarm is raised and while quorum is lost. The kubelet then restarts all members at once, again and again: an outage becomes a longer one.",
			Cure: "Let it ask /livez, or /health?exclude=NOSPACE&serializable=true on versions before 3.4.29 and 3.5.11.",
			run:  livenessProbe,
		},
		{
			ID: "W002", Category: Workload, Title: "members have a readiness probe",
			Doc:  "Without one a pod is Ready as soon as its process runs: a rollout goes on before the member has rejoined, and a budget lets the next one go.",
			Cure: "Add one on /readyz.",
			run:  readinessProbe,
		},
		{
			ID: "W003", Category: Workload, Title: "the probes can pass",
			Doc:  "The kubelet has no client certificate: an HTTP probe of a client port that demands one never passes.",
			Cure: "Serve metrics and health on a port of their own with --listen-metrics-urls, and probe that.",
			run:  probesPass, needs: NeedMembers,
		},
		{
			ID: "W004", Category: Workload, Title: "members request CPU and memory",
			Doc:  "Without requests a member shares what others leave, and is among the first to be killed or evicted when its node runs short. A CPU limit throttles it in the middle of a heartbeat.",
			Cure: "Set requests; leave the CPU limit away.",
			run:  requests,
		},
		{
			ID: "W005", Category: Workload, Title: "the memory limit has room for the database",
			Doc:  "etcd maps its database into memory. With a limit below its size every read may go to the disk, and a snapshot may kill the member.",
			Cure: "Raise the limit above the quota, or at least twice the database's size.",
			run:  memoryLimit, needs: NeedMembers,
		},
		{
			ID: "W006", Category: Workload, Title: "members have time to stop",
			Doc:  "On SIGTERM a leader hands its leadership on before it ends. Killed at once, it costs the cluster an election.",
			Cure: "Set terminationGracePeriodSeconds to 30, the default.",
			run:  gracePeriod,
		},
		{
			ID: "W007", Category: Workload, Title: "the image can still be pulled",
			Doc:  "Registries that are gone or frozen: docker.io/bitnami has lost its versioned images, k8s.gcr.io gets nothing new. A member on a new node then never starts.",
			Cure: "Use an image that is kept, or a mirror of yours.",
			run:  imageRegistry,
		},
		{
			ID: "W008", Category: Workload, Title: "the image names a version",
			Doc:  "With the tag latest, or none, a pod that is created again may run another version than its peers.",
			Cure: "Name a version, or a digest.",
			run:  imageTag,
		},
		{
			ID: "W009", Category: Workload, Title: "members can start without each other",
			Doc:  "With podManagementPolicy OrderedReady and a readiness probe that needs quorum, an outage of all members never ends: the first must be Ready before the second is started, and can't be without it.",
			Cure: "Create the StatefulSet again with podManagementPolicy Parallel, and leave the pods alone (--cascade=orphan).",
			run:  orderedStart,
		},
		{
			ID: "W010", Category: Workload, Title: "no rollout is left half-way",
			Doc:  "Pods that don't run the StatefulSet's current template although nothing updates them: a partition, or the strategy OnDelete. The next restart of such a pod changes it unasked.",
			Cure: "Set the partition back to 0, or delete the pods one by one with all members ready.",
			run:  halfRollout,
		},
		{
			ID: "W011", Category: Workload, Title: "members stay members when their pods stop",
			Doc:  "A preStop hook runs at each stop of a pod, whatever the reason. If it removes the member from etcd, each eviction, restart and rollout takes a voter out of the cluster, and the pod that follows is not a member until something adds it again.",
			Cure: "Take the command out of the hook, and remove a member only when the cluster is scaled in.",
			run:  keepsMembers,
		},
	}
}

func requests(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	var missing []string
	for _, r := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		_, requested := c.Resources.Requests[r]
		// A limit is the request where there is none.
		if _, limited := c.Resources.Limits[r]; !requested && !limited {
			missing = append(missing, string(r))
		}
	}
	if len(missing) > 0 {
		found = append(found, warning(f.setRequests(c, missing), "container %s requests no %s", c.Name, strings.Join(missing, " and no ")))
	}
	if limit, has := c.Resources.Limits[corev1.ResourceCPU]; has {
		found = append(found, info("", "container %s has a CPU limit of %s: it may be throttled in the middle of a heartbeat", c.Name, limit.String()))
	}
	return found
}

func (f *Facts) setRequests(c *corev1.Container, missing []string) string {
	var want []string
	for _, r := range missing {
		want = append(want, r+"="+map[string]string{"cpu": "200m", "memory": "512Mi"}[r])
	}
	if !f.writable() {
		order := fmt.Sprintf("request %s for container %s", strings.Join(want, " and "), c.Name)
		return f.change(order, order+" in spec.etcd.resources.requests")
	}
	return f.kubectl(fmt.Sprintf("set resources statefulset %s -c %s --requests=%s", f.Owner.StatefulSet, c.Name, strings.Join(want, ",")))
}

func memoryLimit(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	limit, has := c.Resources.Limits[corev1.ResourceMemory]
	if !has {
		return notApplicable("container %s has no memory limit", c.Name)
	}
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	for _, m := range f.Responding() {
		if m.DBSize > limit.Value() {
			order := "raise its memory limit to at least " + words.Bytes(2*m.DBSize)
			return []Finding{warning(f.change(order, order+" in spec.etcd.resources.limits"), "the database of %s has %s and container %s a memory limit of %s", m.Pod, words.Bytes(m.DBSize), c.Name, limit.String())}
		}
	}
	return nil
}

// shortest is the least time in seconds that etcd needs to transfer its leadership.
const shortest = 10

func gracePeriod(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	grace := f.StatefulSet.Value.Spec.Template.Spec.TerminationGracePeriodSeconds
	if grace == nil || *grace >= shortest {
		return nil
	}
	return []Finding{warning(f.change("set terminationGracePeriodSeconds to 30", ""), "pods are killed %s after SIGTERM: a leader can't hand over", words.Plural(int(*grace), "second", "seconds"))}
}

// gone are the registries that no longer have, or no longer get, images of
// etcd, each with its source.
var gone = []struct{ prefix, what, fix string }{
	// https://github.com/bitnami/charts/issues/35164
	{"docker.io/bitnami/", "whose versioned images were removed in 2025", "use docker.io/bitnamilegacy/etcd, which gets no updates, or a mirror of yours"},
	// https://kubernetes.io/blog/2023/03/10/image-registry-redirect/
	{"k8s.gcr.io/", "which has been frozen since 2023", "use registry.k8s.io/etcd"},
}

func imageRegistry(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	image := full(c.Image)
	for _, g := range gone {
		if strings.HasPrefix(image, g.prefix) {
			found = append(found, warning(f.change(g.fix, g.fix+" in spec.etcd.image"), "image %s is from %s, %s", c.Image, strings.TrimSuffix(g.prefix, "/"), g.what))
		}
	}
	return found
}

// full is an image's name with the registry and the folder that docker would
// put before it.
func full(image string) string {
	host, _, has := strings.Cut(image, "/")
	switch {
	case !has:
		return "docker.io/library/" + image
	case !strings.ContainsAny(host, ".:") && host != "localhost":
		return "docker.io/" + image
	}
	return image
}

func imageTag(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	if strings.Contains(c.Image, "@") {
		return nil
	}
	name := c.Image[strings.LastIndex(c.Image, "/")+1:]
	if _, tag, has := strings.Cut(name, ":"); !has || tag == "latest" {
		return []Finding{warning(f.change("name a version of the image", "name a version in spec.etcd.image"), "image %s is whatever is newest when a pod starts", c.Image)}
	}
	return nil
}

func halfRollout(f *Facts) []Finding {
	if _, found := f.probed(); found != nil {
		return found
	}
	sts := f.StatefulSet.Value
	s := sts.Status
	if s.UpdateRevision == s.CurrentRevision || s.UpdateRevision == "" {
		return nil
	}
	outdated := int(s.Replicas - s.UpdatedReplicas)
	u := sts.Spec.UpdateStrategy
	switch {
	case outdated <= 0:
		return nil
	case u.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return []Finding{warning("delete them one by one, with all members ready", "%s the template as it is now, and strategy OnDelete updates none", words.Plural(outdated, "pod doesn't run", "pods don't run"))}
	case u.RollingUpdate != nil && u.RollingUpdate.Partition != nil && *u.RollingUpdate.Partition > 0:
		fix := f.kubectl("patch statefulset " + sts.Name + ` --type=merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}'`)
		if !f.writable() {
			fix = f.change("set the partition of the rolling update to 0", "")
		}
		return []Finding{warning(fix,
			"%s the template as it is now: partition %d holds the rollout", words.Plural(outdated, "pod doesn't run", "pods don't run"), *u.RollingUpdate.Partition)}
	}
	return []Finding{info("", "a rollout is under way, %s to go", words.Plural(outdated, "pod", "pods"))}
}

func keepsMembers(f *Facts) []Finding {
	c, found := f.probed()
	if c == nil {
		return found
	}
	for _, m := range f.Owner.MemberChanges {
		if m.Hook == etcdconf.PreStop && m.Verb == "remove" {
			found = append(found, warning(f.change("take "+m.Command()+" out of "+m.Where(), ""),
				"%s has %s: each eviction, restart and rollout takes a voter out of etcd", m.Where(), m.Command()))
		}
	}
	return found
}
