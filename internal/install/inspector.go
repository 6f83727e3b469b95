// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	policyv1alpha1 "github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apiserver"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/kubeclient"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/version"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// The names in the manifests. The namespace is the default one.
const (
	webhookName  = "etcd-webhook"
	webhookLease = webhookName + ".kubectl-etcd.dev"
	webhookSpace = "kubectl-etcd-system"
)

// The names of facts that may be missing, as WebhookStatus.Unseen lists them.
const (
	UnseenWebhooks     = "webhook configurations"
	unseenDeployments  = "deployments"
	unseenPods         = "pods of the webhook"
	unseenLease        = "the leader's lease"
	unseenCertificates = "certificates that are served"
	unseenPolicies     = "etcdtopologypolicies"
)

// Inspector inspects the installed etcd-webhook once.
type Inspector struct {
	kube        client.Client
	reader      *observe.Reader
	config      *rest.Config
	tunnel      *tunnel.Dialer
	clock       clock.Clock
	serverClock *apiserver.Clock
	namespace   string
	// explicit is true if the user selected the namespace.
	explicit bool

	st       *v1alpha1.WebhookStatus
	webhooks []calledWebhook
	pods     []corev1.Pod
	// account is the ServiceAccount that the program runs as.
	account string
}

// calledWebhook is one entry of a configuration, of either kind.
type calledWebhook struct {
	name, path string
	mutating   bool
	client     admissionregistrationv1.WebhookClientConfig
	namespaces *metav1.LabelSelector
	objects    *metav1.LabelSelector
	conditions []admissionregistrationv1.MatchCondition
}

// NewInspector returns an Inspector. The namespace is explicit if the user selected it. It is
// otherwise the default of the context.
func NewInspector(config *rest.Config, local clock.Clock, namespace string, explicit bool) (*Inspector, error) {
	serverClock := &apiserver.Clock{PassiveClock: local}
	dialer := tunnel.New(config)
	config = serverClock.LearnFrom(config)
	kube, err := kubeclient.Connect(config)
	return &Inspector{
		kube: kube, reader: &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: local}}, config: config, tunnel: dialer,
		clock: local, serverClock: serverClock, namespace: namespace, explicit: explicit,
		st: &v1alpha1.WebhookStatus{PluginVersion: version.Get().Version},
	}, err
}

// Inspect reads all facts. For a fact that it can't read, the result has the reason, for
// example a missing permission. It returns an error if the API server does not answer.
func (l *Inspector) Inspect(ctx context.Context) (*v1alpha1.WebhookStatus, error) {
	for i, part := range []struct {
		what string
		read func(context.Context) error
	}{
		{UnseenWebhooks, l.readWebhooks},
		{unseenDeployments, l.readDeployment},
		{unseenPods, l.readPods},
		{unseenLease, l.readLeader},
		{"nodes", l.readZones},
		{unseenCertificates, l.readCertificates},
		{unseenPolicies, l.readPolicies},
		{"the dry run of admission", l.tryAdmission},
		{"services", l.readCuts},
		{"events", l.readEvents},
		{"permissions of " + webhookName, l.readPermissions},
		{"the API server's metrics", l.readCalls},
	} {
		err := part.read(ctx)
		switch {
		case err == nil, meta.IsNoMatchError(err):
		case context.Cause(ctx) != nil:
			return nil, context.Cause(ctx)
		case i == 0 && !apierrors.IsForbidden(err), utilnet.IsConnectionRefused(err):
			return nil, err
		default:
			l.st.Unseen = append(l.st.Unseen, v1alpha1.Unseen{What: part.what, Why: format.OneLine(err.Error())})
		}
		if part.what == unseenDeployments && len(l.webhooks) == 0 && l.st.Program.Deployment == "" && len(l.st.Unseen) == 0 {
			break // it isn't installed
		}
	}
	l.st.Time = metav1.NewTime(l.serverClock.Now().UTC())
	return l.st, context.Cause(ctx)
}

func (l *Inspector) isUnseen(what string) bool {
	return slices.ContainsFunc(l.st.Unseen, func(u v1alpha1.Unseen) bool { return u.What == what })
}

func (l *Inspector) readWebhooks(ctx context.Context) error {
	var mutating admissionregistrationv1.MutatingWebhookConfigurationList
	var validating admissionregistrationv1.ValidatingWebhookConfigurationList
	if err := l.kube.List(ctx, &mutating); err != nil {
		return err
	}
	if err := l.kube.List(ctx, &validating); err != nil {
		return err
	}
	for _, c := range mutating.Items {
		for _, w := range c.Webhooks {
			l.add(calledWebhook{name: w.Name, mutating: true, client: w.ClientConfig, namespaces: w.NamespaceSelector, objects: w.ObjectSelector, conditions: w.MatchConditions},
				"mutatingwebhookconfiguration/"+c.Name, w.Rules, w.FailurePolicy, w.TimeoutSeconds)
		}
	}
	for _, c := range validating.Items {
		for _, w := range c.Webhooks {
			l.add(calledWebhook{name: w.Name, client: w.ClientConfig, namespaces: w.NamespaceSelector, objects: w.ObjectSelector, conditions: w.MatchConditions},
				"validatingwebhookconfiguration/"+c.Name, w.Rules, w.FailurePolicy, w.TimeoutSeconds)
		}
	}
	return nil
}

// add adds a webhook to the status if it is one of ours.
func (l *Inspector) add(w calledWebhook, in string, rules []admissionregistrationv1.RuleWithOperations, failure *admissionregistrationv1.FailurePolicyType, timeout *int32) {
	if !strings.HasSuffix(w.name, entries.Suffix) {
		return
	}
	if s := w.client.Service; s != nil {
		w.path = ptr.Deref(s.Path, "/")
		l.st.Program.Namespace = s.Namespace
	}
	out := v1alpha1.InstalledWebhook{
		Name: w.name, Configuration: in, FailurePolicy: string(ptr.Deref(failure, admissionregistrationv1.Fail)),
		TimeoutSecs: ptr.Deref(timeout, 10), ExcludedNamespaces: excludedBy(w.namespaces),
		AuthorityExpiry: authorityExpiry(w.client.CABundle),
	}
	if w.objects != nil && len(w.objects.MatchLabels)+len(w.objects.MatchExpressions) > 0 {
		out.ObjectSelector = metav1.FormatLabelSelector(w.objects)
	}
	for _, c := range w.conditions {
		out.MatchConditions = append(out.MatchConditions, c.Name)
	}
	for _, r := range rules {
		for _, resource := range r.Resources {
			for _, operation := range r.Operations {
				out.Resources = append(out.Resources, resource+":"+string(operation))
			}
		}
	}
	l.webhooks = append(l.webhooks, w)
	l.st.Webhooks = append(l.st.Webhooks, out)
}

// excludedBy returns the namespaces that a selector excludes by name.
func excludedBy(s *metav1.LabelSelector) []string {
	if s == nil {
		return nil
	}
	for _, r := range s.MatchExpressions {
		if r.Key == corev1.LabelMetadataName && r.Operator == metav1.LabelSelectorOpNotIn {
			return r.Values
		}
	}
	return nil
}

// readDeployment finds the Deployment in the namespace that the webhooks call. Without
// webhooks it searches all namespaces.
func (l *Inspector) readDeployment(ctx context.Context) error {
	p := &l.st.Program
	var found appsv1.DeploymentList
	err := l.kube.List(ctx, &found, client.InNamespace(p.Namespace), client.MatchingLabels{"app.kubernetes.io/name": webhookName})
	if err != nil || len(found.Items) == 0 {
		return err
	}
	d := &found.Items[0]
	p.Namespace, p.Deployment, p.Version = d.Namespace, d.Name, deploymentVersion(d)
	p.Ready, p.Desired = d.Status.ReadyReplicas, ptr.Deref(d.Spec.Replicas, 1)
	l.account = cmp.Or(d.Spec.Template.Spec.ServiceAccountName, "default")
	if containers := d.Spec.Template.Spec.Containers; len(containers) > 0 {
		p.Image = containers[0].Image
	}
	return nil
}

func (l *Inspector) readPods(ctx context.Context) error {
	var found corev1.PodList
	err := l.kube.List(ctx, &found, client.InNamespace(cmp.Or(l.st.Program.Namespace, webhookSpace)), client.MatchingLabels{"app.kubernetes.io/name": webhookName})
	if err != nil {
		return err
	}
	l.pods = slices.DeleteFunc(found.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
	slices.SortFunc(l.pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	for i := range l.pods {
		l.st.Program.Replicas = append(l.st.Program.Replicas, replicaOf(&l.pods[i]))
	}
	return nil
}

func replicaOf(pod *corev1.Pod) v1alpha1.WebhookReplica {
	r := v1alpha1.WebhookReplica{Pod: pod.Name, Node: pod.Spec.NodeName}
	problem := podstate.Of(pod)
	r.Ready, r.LastExit = problem.State == "", problem.String()
	for _, c := range pod.Status.ContainerStatuses {
		r.Restarts += c.RestartCount
		if t := c.LastTerminationState.Terminated; t != nil && r.Ready {
			r.LastExit = fmt.Sprintf("%s with exit code %d at %s", t.Reason, t.ExitCode, t.FinishedAt.UTC().Format("2006-01-02 15:04:05 MST"))
		}
	}
	return r
}

func (l *Inspector) readZones(ctx context.Context) error {
	for i := range l.st.Program.Replicas {
		r := &l.st.Program.Replicas[i]
		if r.Node == "" {
			continue
		}
		var node corev1.Node
		if err := l.kube.Get(ctx, client.ObjectKey{Name: r.Node}, &node); client.IgnoreNotFound(err) != nil {
			return err
		}
		r.Zone = node.Labels[corev1.LabelTopologyZone]
	}
	return nil
}

func (l *Inspector) readPolicies(ctx context.Context) error {
	var list policyv1alpha1.EtcdTopologyPolicyList
	if err := l.kube.List(ctx, &list); err != nil {
		return err
	}
	for _, p := range list.Items {
		out := v1alpha1.WebhookPolicy{
			Name: p.Name, Mode: string(p.Spec.Mode), Matched: p.Status.Matched, Broken: p.Status.Broken, Unprotected: p.Status.Unprotected,
		}
		if c := meta.FindStatusCondition(p.Status.Conditions, policyv1alpha1.ConditionConflict); c != nil && c.Status == metav1.ConditionTrue {
			out.Conflict = c.Message
		}
		l.st.Policies = append(l.st.Policies, out)
	}
	return nil
}

func (l *Inspector) readCuts(ctx context.Context) error {
	var list corev1.ServiceList
	if err := l.kube.List(ctx, &list); err != nil {
		return err
	}
	for i := range list.Items {
		s := &list.Items[i]
		if _, cut := s.Spec.Selector[policyv1alpha1.ClientTrafficKey]; !cut {
			continue
		}
		out := v1alpha1.WebhookCut{Namespace: s.Namespace, Service: s.Name}
		if until, readable := observe.CutUntil(s, l.serverClock.Now()); readable {
			out.Until = &metav1.Time{Time: until.UTC()}
		}
		l.st.Cuts = append(l.st.Cuts, out)
	}
	return nil
}
