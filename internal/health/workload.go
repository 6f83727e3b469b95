// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func workloadChecks() []Check { return slices.Concat(probeChecks(), podChecks(), lifeChecks()) }

// probeChecks judge the probes of a member's container.
func probeChecks() []Check {
	return []Check{
		{
			ID: "W001", Category: Workload, Title: "the liveness probe checks only whether the process lives",
			Doc:  "A probe that asks /health, /readyz or etcdctl endpoint health fails while a NOSPACE alarm is raised and while quorum is lost. The kubelet then restarts all members at once, again and again. This makes the outage longer.",
			Cure: "Let the probe ask /livez. On versions before 3.4.29 and 3.5.11, which don't have it, use /health?exclude=NOSPACE&serializable=true. The change restarts the members, so make it while all of them are healthy. If the probe itself keeps a member down, set the update strategy OnDelete first, and delete only the pod of that member.",
			run:  livenessProbe, needs: NeedMembers, eachPart: true,
		},
		{
			ID: "W002", Category: Workload, Title: "members have a readiness probe",
			Doc:  "Without a readiness probe, a pod is Ready as soon as its process runs. A rollout then continues before the member has rejoined, and a budget allows the eviction of the next member.",
			Cure: "Add a readiness probe on /readyz.",
			run:  readinessProbe, eachPart: true,
		},
		{
			ID: "W003", Category: Workload, Title: "the probes can pass",
			Doc:  "The kubelet has no client certificate. If the client port demands one, an HTTP probe of this port never passes.",
			Cure: "Serve metrics and health on a separate port with --listen-metrics-urls, and probe that port.",
			run:  probesPass, needs: NeedMembers, eachPart: true,
		},
	}
}

// podChecks judge what else the pod of a member asks of its node, and its image.
func podChecks() []Check {
	return []Check{
		{
			ID: "W004", Category: Workload, Title: "members request CPU and memory",
			Doc:  "Without requests, a member gets only the resources that other pods leave. When its node has too few resources, the member is among the first pods that are killed or evicted. A CPU limit throttles the member in the middle of a heartbeat.",
			Cure: "Set requests. Don't set a CPU limit.",
			run:  requests, eachPart: true,
		},
		{
			ID: "W005", Category: Workload, Title: "the memory limit has room for the database",
			Doc:  "etcd maps its database into memory. If the limit is below the size of the database, every read may go to the disk, and a snapshot may kill the member.",
			Cure: "Raise the limit above the quota, or at least to twice the size of the database.",
			run:  memoryLimit, needs: NeedMembers, eachPart: true,
		},
		{
			ID: "W006", Category: Workload, Title: "members have time to stop",
			Doc:  "On SIGTERM, a leader transfers its leadership before it ends. If it is killed at once, the cluster needs an election.",
			Cure: "Set terminationGracePeriodSeconds to 30, the default.",
			run:  gracePeriod, eachPart: true,
		},
		{
			ID: "W007", Category: Workload, Title: "the registry of the image is in use",
			Doc:  "The check knows registries that are gone or frozen: docker.io/bitnami has lost its versioned images, and k8s.gcr.io gets no new images. If an image can't be pulled, a member on a new node never starts.",
			Cure: "Use an image that its registry maintains, or a mirror of your own.",
			run:  imageRegistry, eachPart: true,
		},
		{
			ID: "W008", Category: Workload, Title: "the image names a version",
			Doc:  "If an image has the tag latest or no tag, a pod that is created again may run another version than its peers.",
			Cure: "Name a version or a digest.",
			run:  imageTag, eachPart: true,
		},
	}
}

// lifeChecks judge how members start and stop, and how a rollout restarts them.
func lifeChecks() []Check {
	return []Check{
		{
			ID: "W009", Category: Workload, Title: "members can start without each other",
			Doc:  "With podManagementPolicy OrderedReady and a readiness probe that needs quorum, an outage of all members never ends. The second pod starts only when the first is Ready, and the first can't be Ready without the second.",
			Cure: "Save the StatefulSet in a file, and delete it with --cascade=orphan, which leaves the pods running. Then create it again from the file, with podManagementPolicy Parallel.",
			run:  orderedStart, eachPart: true,
		},
		{
			ID: "W010", Category: Workload, Title: "no rollout is left half-way",
			Doc:  "The check reports pods that don't run the StatefulSet's current template although nothing updates them. A partition or the strategy OnDelete is the cause. The next restart of such a pod changes it unexpectedly. If etcd-webhook held the rollout and is not installed any more, nothing continues it.",
			Cure: "Set the partition back to 0, or delete the pods one by one while all members are ready. If etcd-webhook held the rollout and is gone, restore the update strategy that it recorded: the finding has the command. kubectl etcd webhook uninstall does this for all clusters.",
			run:  halfRollout, needs: NeedWebhook, eachPart: true,
		},
		{
			ID: "W011", Category: Workload, Title: "members stay members when their pods stop",
			Doc:  "A preStop hook runs each time a pod stops, whatever the reason and whatever made the pod. If the hook removes the member from etcd or deletes its data, each eviction, restart and rollout takes a voter out of the cluster. The next pod is not a member until something adds it again. If only the image has the hook's program, it is not known what it does.",
			Cure: "Remove the command from the hook, of a StatefulSet with the update strategy OnDelete, because each pod runs the old hook once more when it stops. Restart one pod at a time, and wait until it is a member again. Remove a member only when you scale the cluster in.",
			run:  keepsMembers,
		},
		{
			ID: "W012", Category: Workload, Title: "a rollout restarts no more members than may be down",
			Doc:  "maxUnavailable of a StatefulSet's rolling update lets its controller restart several pods at once. This also applies to a percentage. If it is more than the members that may be down, a rollout loses the quorum. Disruption budgets don't stop a rollout. If etcd-webhook holds rollouts, the members restart one at a time (row O-27 of docs/rules/rollout.md). The finding is then information.",
			Cure: "Set maxUnavailable of the rolling update to 1.",
			run:  restartsSeveral, needs: NeedMembers | NeedWebhook, eachPart: true,
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
		return f.restarting(f.whenHealthy(f.change(order, order+" in FIELD", flavour.Requests)))
	}
	return f.restarting(f.whenHealthy(f.kubectl(fmt.Sprintf("set resources statefulset %s -c %s --requests=%s", f.Owner.StatefulSet, c.Name, strings.Join(want, ",")))))
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
		if m.DBSize > limit.Value() && f.inPart(m.Pod) {
			order := "raise its memory limit to at least " + policy.Bytes(2*m.DBSize)
			return []Finding{warning(f.changeTemplate(order, order+" in FIELD", flavour.Limits), "the database of %s has %s, and container %s has a memory limit of %s", m.Pod, policy.Bytes(m.DBSize), c.Name, limit.String())}
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
	return []Finding{warning(f.changeTemplate("set terminationGracePeriodSeconds to 30", ""), "pods are killed %s after SIGTERM: a leader can't transfer its leadership", policy.Plural(int(*grace), "second", "seconds"))}
}
