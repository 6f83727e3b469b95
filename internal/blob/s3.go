// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"gocloud.dev/aws"
	cloud "gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

// openS3 finds the credentials as the AWS CLI does.
func openS3(ctx context.Context, l Location) (*cloud.Bucket, error) {
	query := withDefaults(l.query, os.Getenv)
	take := func(name string) string {
		defer query.Del(name)
		return query.Get(name)
	}
	options := s3blob.Options{KMSEncryptionID: take("kmskeyid")}
	if kind := take("ssetype"); kind != "" {
		known := types.ServerSideEncryption("").Values()
		i := slices.IndexFunc(known, func(v types.ServerSideEncryption) bool { return strings.EqualFold(string(v), kind) })
		if i < 0 {
			return nil, fmt.Errorf("ssetype %q is unknown", kind)
		}
		options.EncryptionType = known[i]
	}
	inPath, err1 := boolean("use_path_style", take("use_path_style"))
	accelerate, err2 := boolean("accelerate", take("accelerate"))
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	config, err := aws.V2ConfigFromURLParams(ctx, query)
	if err != nil {
		return nil, err
	}
	if l.roots != nil {
		config.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.TLSClientConfig = l.tlsConfig() })
	}
	options.RequestChecksumCalculation = config.RequestChecksumCalculation // the uploads do not read it from there
	client := s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle, o.UseAccelerate = inPath, accelerate })
	return s3blob.OpenBucket(ctx, client, l.bucket, &options)
}

// boolean reports whether the value of a parameter is true. Empty is false.
func boolean(name, text string) (bool, error) {
	if text == "" {
		return false, nil
	}
	value, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%s is %q, and must be true or false", name, text)
	}
	return value, nil
}

// withDefaults adds the parameters without which the SDK works with AWS only. Other stores have the
// bucket in the path, accept any region, and may not know the SDK's checksums. Upload compares the
// whole object in any case.
func withDefaults(given url.Values, env func(string) string) url.Values {
	query := url.Values{}
	maps.Copy(query, given)
	if given.Get("endpoint") == "" {
		return query
	}
	defaults := map[string]string{
		"use_path_style": "true", "region": "us-east-1",
		"request_checksum_calculation": "when_required", "response_checksum_validation": "when_required",
	}
	if env("AWS_REGION") != "" || env("AWS_DEFAULT_REGION") != "" {
		delete(defaults, "region")
	}
	for name, value := range defaults {
		if !query.Has(name) {
			query.Set(name, value)
		}
	}
	return query
}
