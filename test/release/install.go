// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// imageName is what the manifests call the webhook's image.
const imageName = "ghcr.io/kubectl-etcd/etcd-webhook"

// rendered are the folders of manifests/ of which a release has one file to apply, by that
// file's name.
var rendered = map[string]string{
	"etcd-webhook.yaml":              "overlays/self-signed",
	"etcd-webhook-cert-manager.yaml": "overlays/cert-manager",
	"monitoring.yaml":                "monitoring",
	"monitoring-cert-manager.yaml":   "monitoring-cert-manager",
}

// copied are the files of manifests/ that a release has as they are.
var copied = []string{"samples/policy.yaml", "samples/plugin-roles.yaml", "monitoring/rules.yaml", "monitoring/dashboard.json"}

// writeManifests writes what there is to apply for those who have no checkout, with the
// image that was made, by its digest.
func (o Options) writeManifests(version, digest string) error {
	for file, folder := range rendered {
		text, err := o.render(folder, types.Image{Name: imageName, NewTag: version, Digest: digest})
		if err != nil {
			return fmt.Errorf("render manifests/%s: %w", folder, err)
		}
		if err := os.WriteFile(filepath.Join(o.Out, file), text, 0o644); err != nil { //nolint:gosec // it is to be published
			return err
		}
	}
	for _, file := range copied {
		text, err := os.ReadFile(filepath.Join(o.Source, "manifests", file)) //nolint:gosec // it is of this package's clone
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(o.Out, filepath.Base(file)), text, 0o644); err != nil { //nolint:gosec // the same
			return err
		}
	}
	return nil
}

func (o Options) render(folder string, image types.Image) ([]byte, error) {
	top, err := yaml.Marshal(types.Kustomization{
		TypeMeta:  types.TypeMeta{APIVersion: types.KustomizationVersion, Kind: types.KustomizationKind},
		Resources: []string{"../manifests/" + folder},
		Images:    []types.Image{image},
	})
	if err != nil {
		return nil, err
	}
	// Source is a clone of this package's own.
	dir := filepath.Join(o.Source, "rendered")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), top, 0o600); err != nil {
		return nil, err
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	return objects.AsYaml()
}
