// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"context"
	"slices"
	"strings"

	cloud "gocloud.dev/blob"
)

// provider is one kind of store.
type provider struct {
	scheme string
	// name is that of the provider in an Etcd.
	name string
	// form is the URL of a folder, for messages.
	form string
	// credentials is where the SDK finds them, for messages.
	credentials string
	// parameters are those that a URL may have. None has a credential, or sends one to another host.
	parameters []string
	open       func(context.Context, Location) (*cloud.Bucket, error)
}

//nolint:gosec // the credentials are names of variables
var providers = []provider{
	{scheme: "file", name: "Local", form: "file:///DIRECTORY", credentials: "none", open: openDirectory},
	{
		scheme: "s3", name: "S3", form: "s3://BUCKET/PREFIX, with ?endpoint=https://HOST:PORT for a store that is not AWS",
		credentials: "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY", open: openS3,
		parameters: []string{
			"accelerate", "anonymous", "dualstack", "endpoint", "fips", "kmskeyid", "profile", "region", "request_checksum_calculation",
			"response_checksum_validation", "role", "ssetype", "use_path_style",
		},
	},
	{
		scheme: "gs", name: "GCS", form: "gs://BUCKET/PREFIX", credentials: "GOOGLE_APPLICATION_CREDENTIALS, which is the path of a file", open: openGCS,
	},
	{
		scheme: "azblob", name: "ABS", form: "azblob://CONTAINER/PREFIX?storage_account=ACCOUNT",
		credentials: "AZURE_STORAGE_ACCOUNT, AZURE_STORAGE_KEY", open: openAzure, parameters: []string{"storage_account"},
	},
}

// forms are the URLs of folders, for messages.
const forms = "file:///DIRECTORY, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or azblob://CONTAINER/PREFIX"

// providerOf returns the provider of a scheme, or false for an unknown one.
func providerOf(scheme string) (provider, bool) {
	i := slices.IndexFunc(providers, func(p provider) bool { return p.scheme == scheme })
	if i < 0 {
		return provider{}, false
	}
	return providers[i], true
}

// credentialsOf returns where the credentials of a scheme come from, for an error about a URL.
func credentialsOf(scheme string) string {
	if p, known := providerOf(scheme); known {
		return p.credentials
	}
	var all []string
	for _, p := range providers[1:] {
		all = append(all, p.credentials)
	}
	return strings.Join(all, ", ")
}
