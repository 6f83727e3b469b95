// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
)

// findDruid fills in what only a druid cluster has.
func (r *Plan) findDruid(ctx context.Context, reader *observe.Reader, contents etcdconf.Contents, spec *corev1.PodSpec, image string) error {
	d := &Druid{ConfigMap: r.Owner.Name + "-config"}
	store, ok, err := backupstore.Of(ctx, reader, r.Owner)
	if err != nil {
		return err
	}
	if ok {
		d.Store = &store
	}
	stored, err := backupstore.Leases(ctx, reader, r.Owner)
	if err != nil {
		return err
	}
	for _, l := range stored {
		d.Stored = max(d.Stored, l.Revision)
	}
	data, err := contents("ConfigMap", d.ConfigMap)
	if err != nil {
		return err
	}
	var config map[string]any
	if err := yaml.Unmarshal(data["etcd.conf.yaml"], &config); err != nil {
		return fmt.Errorf("read ConfigMap %s/%s: %w", r.Owner.Namespace, d.ConfigMap, err)
	}
	first, err := alone(config)
	if err != nil {
		return fmt.Errorf("ConfigMap %s/%s: %w", r.Owner.Namespace, d.ConfigMap, err)
	}
	if d.Config, err = configText(config); err != nil {
		return err
	}
	for _, m := range r.Members {
		d.Leases = append(d.Leases, strings.TrimSuffix(first, r.Members[0].Pod)+m.Pod)
		for _, c := range r.Owner.Claims {
			d.Claims = append(d.Claims, c.Template+"-"+m.Pod)
		}
	}
	services, err := memberservices.OfClients(ctx, reader, r.Owner)
	if err != nil {
		return err
	}
	d.Cut = slices.ContainsFunc(services, func(s corev1.Service) bool { return observe.IsCut(&s) })
	r.Druid = d
	return r.findStore(spec, image)
}

// findStore makes the pod that mounts the store, if that is a directory of the nodes. The pod
// has the user and the mount of the sidecars.
func (r *Plan) findStore(spec *corev1.PodSpec, image string) error {
	if r.Druid.Store == nil || !strings.EqualFold(r.Druid.Store.Provider, "Local") {
		return nil
	}
	for _, c := range spec.Containers {
		for _, m := range c.VolumeMounts {
			i := slices.IndexFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name && v.HostPath != nil })
			if i < 0 || path.Base(m.MountPath) != r.Druid.Store.Container {
				continue
			}
			helper := corev1.Container{Name: HelperContainer, Image: image, Command: []string{"sleep", "86400"}, SecurityContext: c.SecurityContext, VolumeMounts: []corev1.VolumeMount{m}}
			var err error
			r.Druid.StorePod, err = r.manifest(r.storePod(), spec, helper, spec.Volumes[i:i+1])
			r.Druid.StoreDir = path.Join(m.MountPath, r.Druid.Store.Prefix, "v2")
			return err
		}
	}
	return nil
}

func configText(config map[string]any) (string, error) {
	text, err := yaml.Marshal(config)
	return string(text), err
}

// alone removes all members but the first from a configuration of druid, and returns the name
// of the first.
func alone(config map[string]any) (string, error) {
	list, _ := config["initial-cluster"].(string)
	entry, _, _ := strings.Cut(list, ",")
	first, _, ok := strings.Cut(entry, "=")
	if !ok {
		return "", fmt.Errorf("its initial-cluster is %q", list)
	}
	config["initial-cluster"] = entry
	for _, key := range []string{"initial-advertise-peer-urls", "advertise-client-urls"} {
		if urls, ok := config[key].(map[string]any); ok {
			config[key] = map[string]any{first: urls[first]}
		}
	}
	return first, nil
}
