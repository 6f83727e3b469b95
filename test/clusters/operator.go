// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/gardener/etcd-druid/api/core/v1alpha1/crds"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
)

// DruidNamespace is where etcd-druid runs.
const DruidNamespace = "etcd-druid"

// druidName is the name of all of druid's objects.
const druidName = "etcd-druid"

// servingSecret holds the certificate of druid's webhook.
const servingSecret = "etcd-druid-serving-certificate" //nolint:gosec // the name of a Secret is none

// DruidOptions configure etcd-druid. The zero value is druid's default mode, in which it acts on
// an Etcd when an annotation requests it, with timings that are short enough to wait for.
type DruidOptions struct {
	// AutoReconcile has druid act on every Etcd at every sync.
	AutoReconcile bool
	// OwnTimings uses druid's own timings. Druid checks every 15 s. A member is unknown after a
	// minute and not ready after five more minutes.
	OwnTimings bool
	// Protection has druid's webhook deny the changes of other clients to druid's objects.
	Protection bool
	// ExemptServiceAccounts may change these objects, unless druid is reconciling:
	// system:serviceaccount:NAMESPACE:NAME.
	ExemptServiceAccounts []string
	// Progress receives the build messages of images, because a build can take minutes. It may
	// be nil.
	Progress io.Writer
}

// InstallDruid installs or updates etcd-druid, and waits until it reconciles. It builds and
// pushes the images that druid and its Etcds run.
func InstallDruid(ctx context.Context, tb Testbed, options DruidOptions) error {
	if err := installDruid(ctx, tb, options); err != nil {
		return fmt.Errorf("install etcd-druid: %w", err)
	}
	return nil
}

func installDruid(ctx context.Context, tb Testbed, options DruidOptions) error {
	if err := pushImages(ctx, tb, druidImages(), options.Progress); err != nil {
		return err
	}
	k, err := connect(tb)
	if err != nil {
		return err
	}
	definitions, err := druidDefinitions()
	if err != nil {
		return err
	}
	if err := k.apply(ctx, definitions...); err != nil {
		return err
	}
	if err := k.awaitEstablished(ctx, definitions); err != nil {
		return err
	}
	if !options.Protection {
		if err := k.unprotect(ctx); err != nil {
			return err
		}
	}
	objects, err := operatorObjects(options)
	if err != nil {
		return err
	}
	if err := k.apply(ctx, objects[0]); err != nil { // the namespace comes first, because the Secret needs it
		return err
	}
	if options.Protection {
		if err := k.ensureServingCertificate(ctx); err != nil {
			return err
		}
	}
	if err := k.apply(ctx, objects...); err != nil {
		return err
	}
	if err := k.awaitDruid(ctx); err != nil {
		return err
	}
	if !options.Protection {
		return nil
	}
	// This comes last. While the protection is in force and druid is down, no one can change
	// druid's objects.
	return k.protect(ctx)
}

// operatorData is the input of druid's templates.
type operatorData struct {
	DruidOptions

	Namespace, Image, Configuration, Checksum string
}

// operatorObjects returns druid's manifests. The first is its namespace.
func operatorObjects(options DruidOptions) ([]*unstructured.Unstructured, error) {
	data := operatorData{DruidOptions: options, Namespace: DruidNamespace, Image: images.Druid}
	configuration, err := render("configuration.yaml", data)
	if err != nil {
		return nil, err
	}
	text, err := yaml.Marshal(configuration[0].Object)
	if err != nil {
		return nil, fmt.Errorf("configuration of etcd-druid: %w", err)
	}
	sum := sha256.Sum256(text)
	data.Configuration, data.Checksum = string(text), hex.EncodeToString(sum[:])
	return render("operator.yaml", data)
}

// druidDefinitions returns the CustomResourceDefinitions of druid's API module, with the
// validation that this version of Kubernetes supports.
func druidDefinitions() ([]*unstructured.Unstructured, error) {
	all, err := crds.GetAll("1.37")
	if err != nil {
		return nil, fmt.Errorf("custom resources of etcd-druid: %w", err)
	}
	var definitions []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(all)) {
		parsed, err := parse([]byte(all[name]))
		if err != nil {
			return nil, fmt.Errorf("custom resource %s: %w", name, err)
		}
		definitions = append(definitions, parsed...)
	}
	return definitions, nil
}

// UninstallDruid deletes etcd-druid and its custom resources. It refuses this while an Etcd
// exists, because only druid removes the Etcd's finalizer.
func UninstallDruid(ctx context.Context, tb Testbed) error {
	k, err := connect(tb)
	if err != nil {
		return err
	}
	if err := k.refuseEtcds(ctx); err != nil {
		return fmt.Errorf("uninstall etcd-druid: %w", err)
	}
	if err := k.unprotect(ctx); err != nil {
		return fmt.Errorf("uninstall etcd-druid: %w", err)
	}
	objects, err := operatorObjects(DruidOptions{})
	if err != nil {
		return err
	}
	definitions, err := druidDefinitions()
	if err != nil {
		return err
	}
	objects = append(objects, definitions...)
	slices.Reverse(objects) // the namespace comes last
	for _, object := range objects {
		if err := client.IgnoreNotFound(k.Delete(ctx, object)); err != nil {
			return fmt.Errorf("uninstall etcd-druid: delete %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return Await(ctx, goneLimit, "namespace "+DruidNamespace+" to go", func(ctx context.Context) (string, bool, error) {
		var namespace corev1.Namespace
		err := k.Get(ctx, client.ObjectKey{Name: DruidNamespace}, &namespace)
		return string(namespace.Status.Phase), err != nil && client.IgnoreNotFound(err) == nil, client.IgnoreNotFound(err)
	})
}

func (k *kube) refuseEtcds(ctx context.Context) error {
	var etcds druidv1alpha1.EtcdList
	if err := k.List(ctx, &etcds); err != nil && !meta.IsNoMatchError(err) {
		return fmt.Errorf("list Etcds: %w", err)
	}
	names := make([]string, len(etcds.Items))
	for i, etcd := range etcds.Items {
		names[i] = etcd.Namespace + "/" + etcd.Name
	}
	if len(names) > 0 {
		return fmt.Errorf("%d Etcds are left: %q; delete them first", len(names), names)
	}
	return nil
}

// ensureServingCertificate creates the certificate of druid's webhook once.
func (k *kube) ensureServingCertificate(ctx context.Context) error {
	now := time.Now() //nolint:forbidigo // a certificate is valid from the moment it is made
	a, err := newAuthority(druidName+"-webhook-ca", now)
	if err != nil {
		return err
	}
	data, err := secretsOf(leaf{servingSecret, a, druidName, serviceNames(druidName, DruidNamespace)})
	if err != nil {
		return err
	}
	err = k.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: DruidNamespace, Name: servingSecret},
		Type:       corev1.SecretTypeTLS,
		Data:       data[servingSecret],
	})
	if client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create secret %s/%s: %w", DruidNamespace, servingSecret, err)
	}
	return nil
}

// protect enables druid's webhook.
func (k *kube) protect(ctx context.Context) error {
	var secret corev1.Secret
	if err := k.Get(ctx, client.ObjectKey{Namespace: DruidNamespace, Name: servingSecret}, &secret); err != nil {
		return fmt.Errorf("read secret %s/%s: %w", DruidNamespace, servingSecret, err)
	}
	objects, err := render("protection.yaml", map[string]any{"Namespace": DruidNamespace, "Authority": secret.Data[caKey]})
	if err != nil {
		return err
	}
	return k.apply(ctx, objects...)
}

// unprotect disables druid's webhook.
func (k *kube) unprotect(ctx context.Context) error {
	err := k.Delete(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: druidName}})
	return client.IgnoreNotFound(err)
}
