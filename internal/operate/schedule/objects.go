// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// labels mark the objects of a schedule, and its pods.
var labels = map[string]string{
	"app.kubernetes.io/name": "kubectl-etcd", "app.kubernetes.io/component": "snapshot-schedule", "app.kubernetes.io/managed-by": "kubectl-etcd",
}

// names are the Secrets and ConfigMaps that the pods of the members refer to.
type names struct{ secrets, configMaps []string }

// builder makes the objects of one schedule.
type builder struct {
	Spec

	owner owner.Owner
	// lock is the name of the Lease of the cluster's lock.
	lock  string
	reads names
	// like is the pod template of the members, whose tolerations and pull secrets the jobs have too.
	like corev1.PodSpec
}

func (b builder) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: b.owner.Namespace, Name: Name(b.owner.Name), Labels: labels}
}

// objects returns all objects in the order in which they are created: the CronJob is the last one.
func (b builder) objects() []client.Object {
	name := Name(b.owner.Name)
	return []client.Object{
		&coordinationv1.Lease{ObjectMeta: b.meta()},
		&corev1.ServiceAccount{ObjectMeta: b.meta()},
		&rbacv1.Role{ObjectMeta: b.meta(), Rules: b.rules()},
		&rbacv1.RoleBinding{
			ObjectMeta: b.meta(),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: b.owner.Namespace}},
		},
		b.cronJob(),
	}
}

// rules returns what snapshot save --direct reads, and the Lease that it renews. Lists can't be limited to
// names.
func (b builder) rules() []rbacv1.PolicyRule {
	name := Name(b.owner.Name)
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods", "services"}, Verbs: []string{"list"}},
		{APIGroups: []string{"apps"}, Resources: []string{"statefulsets"}, Verbs: []string{"list"}},
		{APIGroups: []string{"apps"}, Resources: []string{"statefulsets"}, ResourceNames: []string{b.owner.Name}, Verbs: []string{"get"}},
		{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, ResourceNames: []string{b.lock}, Verbs: []string{"get"}},
		{APIGroups: []string{coordinationv1.GroupName}, Resources: []string{"leases"}, ResourceNames: []string{name}, Verbs: []string{"get", "patch"}},
	}
	if secrets := slices.Concat(b.reads.secrets, b.Secrets); len(secrets) > 0 {
		slices.Sort(secrets)
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: slices.Compact(secrets), Verbs: []string{"get"}})
	}
	if len(b.reads.configMaps) > 0 {
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: b.reads.configMaps, Verbs: []string{"get"}})
	}
	return rules
}

func (b builder) cronJob() *batchv1.CronJob {
	at, _ := cron(b.Every, b.owner.Namespace+"/"+b.owner.Name) // validated
	meta := b.meta()
	meta.Annotations = map[string]string{
		v1alpha1.ScheduleURLAnnotation: b.To.FolderURL(), v1alpha1.ScheduleEveryAnnotation: b.Every.String(), v1alpha1.ScheduleKeepAnnotation: strconv.Itoa(b.Keep),
	}
	seconds := int64(b.Deadline().Seconds())
	c := &batchv1.CronJob{ObjectMeta: meta, Spec: batchv1.CronJobSpec{
		Schedule: at, TimeZone: new("Etc/UTC"), ConcurrencyPolicy: batchv1.ForbidConcurrent, Suspend: new(false), StartingDeadlineSeconds: &seconds,
		SuccessfulJobsHistoryLimit: new(int32(1)), FailedJobsHistoryLimit: new(int32(2)),
		JobTemplate: batchv1.JobTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: batchv1.JobSpec{
				ActiveDeadlineSeconds: &seconds, BackoffLimit: new(int32(1)), PodFailurePolicy: storedPolicy(),
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: b.pod()},
			},
		},
	}}
	meta.Annotations[v1alpha1.ScheduleHashAnnotation] = hashOf(c.Spec)
	return c
}

// StoredExitCode is the exit code of snapshot save if the snapshot is stored and old ones could not be deleted.
const StoredExitCode = 4

// storedPolicy ends the job after that exit code: a second attempt would store a second snapshot. The next run
// deletes the old ones.
func storedPolicy() *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:      batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{StoredExitCode}},
	}}}
}

// user is that of the image.
const user = 65532

func (b builder) pod() corev1.PodSpec {
	c := corev1.Container{
		Name: "snapshot", Image: b.Image, Args: b.args(),
		Resources: corev1.ResourceRequirements{ // quotas of the namespace may require limits, too
			Requests: corev1.ResourceList{"cpu": resource.MustParse("50m"), "memory": resource.MustParse("128Mi")},
			Limits:   corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("1Gi")},
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
	volumes := append([]corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}, b.storeAccess(&c)...)
	return corev1.PodSpec{
		ServiceAccountName: Name(b.owner.Name), RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{c}, Volumes: volumes,
		Tolerations: b.like.Tolerations, ImagePullSecrets: b.like.ImagePullSecrets,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(user)), RunAsGroup: new(int64(user)), FSGroup: new(int64(user)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
}

func (b builder) args() []string {
	args := []string{
		"snapshot", "save", "statefulset/" + b.owner.Name, b.To.FolderURL(), "--namespace=" + b.owner.Namespace,
		"--keep=" + strconv.Itoa(b.Keep), "--renew-lease=" + Name(b.owner.Name), "--direct",
	}
	if b.CA != "" {
		args = append(args, "--store-ca="+caDir+"/ca.crt")
	}
	return append(args, b.Args...)
}

// references returns what a pod template refers to, sorted.
func references(pod corev1.PodSpec) names {
	var n names
	for _, v := range pod.Volumes {
		n.add(v.Secret, v.ConfigMap)
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			if s.Secret != nil {
				n.secrets = append(n.secrets, s.Secret.Name)
			}
			if s.ConfigMap != nil {
				n.configMaps = append(n.configMaps, s.ConfigMap.Name)
			}
		}
	}
	for _, c := range slices.Concat(pod.Containers, pod.InitContainers) {
		n.environment(c)
	}
	slices.Sort(n.secrets)
	slices.Sort(n.configMaps)
	return names{slices.Compact(n.secrets), slices.Compact(n.configMaps)}
}

func (n *names) add(secret *corev1.SecretVolumeSource, configMap *corev1.ConfigMapVolumeSource) {
	if secret != nil {
		n.secrets = append(n.secrets, secret.SecretName)
	}
	if configMap != nil {
		n.configMaps = append(n.configMaps, configMap.Name)
	}
}

func (n *names) environment(c corev1.Container) {
	for _, from := range c.EnvFrom {
		if from.SecretRef != nil {
			n.secrets = append(n.secrets, from.SecretRef.Name)
		}
		if from.ConfigMapRef != nil {
			n.configMaps = append(n.configMaps, from.ConfigMapRef.Name)
		}
	}
	for _, e := range c.Env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
			n.secrets = append(n.secrets, e.ValueFrom.SecretKeyRef.Name)
		}
		if e.ValueFrom != nil && e.ValueFrom.ConfigMapKeyRef != nil {
			n.configMaps = append(n.configMaps, e.ValueFrom.ConfigMapKeyRef.Name)
		}
	}
}
