// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	policyv1alpha1 "github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apiserver"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/kubeclient"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/version"
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
