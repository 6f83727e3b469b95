// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	cloud "gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
)

// openAzure finds the credentials in the variables of Azure's own tools, or else as their SDK does: those of
// an application, a workload identity, a managed identity, or of az login. The host is not a part of the URL, because a
// token would be sent to it.
func openAzure(ctx context.Context, l Location) (*cloud.Bucket, error) {
	client, err := azureClient(l)
	if err != nil {
		return nil, err
	}
	return azureblob.OpenBucket(ctx, client, nil)
}

func azureClient(l Location) (*container.Client, error) {
	options := &container.ClientOptions{ClientOptions: policy.ClientOptions{Transport: l.client()}}
	given := l.query.Get("storage_account")
	if text := os.Getenv("AZURE_STORAGE_CONNECTION_STRING"); text != "" {
		if given != "" {
			return nil, errors.New("AZURE_STORAGE_CONNECTION_STRING names the account already: remove storage_account from the URL, or unset the variable")
		}
		return container.NewClientFromConnectionString(text, l.bucket, options)
	}
	name := cmp.Or(given, os.Getenv("AZURE_STORAGE_ACCOUNT"))
	if !account.MatchString(name) {
		return nil, errors.New("the account is not known: add ?storage_account=ACCOUNT to the URL, or set AZURE_STORAGE_ACCOUNT")
	}
	url := fmt.Sprintf("https://%s.%s/%s", name, cmp.Or(os.Getenv("AZURE_STORAGE_DOMAIN"), "blob.core.windows.net"), l.bucket)
	if key := os.Getenv("AZURE_STORAGE_KEY"); key != "" {
		shared, err := container.NewSharedKeyCredential(name, key)
		if err != nil {
			return nil, errors.New("AZURE_STORAGE_KEY is not a key of Azure, which is in base64") // the SDK's error has a part of it
		}
		return container.NewClientWithSharedKeyCredential(url, shared, options)
	}
	if signature := os.Getenv("AZURE_STORAGE_SAS_TOKEN"); signature != "" {
		return container.NewClientWithNoCredential(url+"?"+signature, options)
	}
	identity, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return container.NewClient(url, identity, options)
}
