// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	cloud "gocloud.dev/blob"
	"gocloud.dev/blob/driver"
	"gocloud.dev/gcerrors"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/api/storage/v1"
)

// openGCS finds the credentials as Google's own libraries do: the file of GOOGLE_APPLICATION_CREDENTIALS, those of
// gcloud, or the workload identity. As with these, STORAGE_EMULATOR_HOST is a server without credentials.
func openGCS(ctx context.Context, l Location) (*cloud.Bucket, error) {
	client, options := l.client(), []option.ClientOption{}
	if host := os.Getenv("STORAGE_EMULATOR_HOST"); host != "" {
		if !strings.Contains(host, "://") {
			host = "http://" + host
		}
		options = append(options, option.WithEndpoint(strings.TrimSuffix(host, "/")+"/storage/v1/"))
	} else {
		var err error
		if client, err = google.DefaultClient(context.WithValue(ctx, oauth2.HTTPClient, client), storage.DevstorageReadWriteScope); err != nil {
			return nil, err
		}
	}
	service, err := storage.NewService(ctx, append(options, option.WithHTTPClient(client))...)
	if err != nil {
		return nil, err
	}
	return cloud.NewBucket(&gcs{service.Objects, l.bucket}), nil
}

// gcs is a bucket of Google Cloud Storage for gocloud.dev, over Google's client of its JSON API. The driver of
// gocloud.dev also has gRPC with all of xDS.
type gcs struct {
	objects *storage.ObjectsService
	bucket  string
}

// As implements driver.Bucket.
func (*gcs) As(any) bool { return false }

// ErrorAs implements driver.Bucket.
func (*gcs) ErrorAs(error, any) bool { return false }

// Close implements driver.Bucket.
func (*gcs) Close() error { return nil }

// ErrorCode implements driver.Bucket.
func (*gcs) ErrorCode(err error) gcerrors.ErrorCode {
	if errors.Is(err, errors.ErrUnsupported) {
		return gcerrors.Unimplemented
	}
	e, ok := errors.AsType[*googleapi.Error](err)
	if !ok {
		return gcerrors.Unknown
	}
	code, known := map[int]gcerrors.ErrorCode{
		http.StatusBadRequest: gcerrors.InvalidArgument, http.StatusUnauthorized: gcerrors.PermissionDenied, http.StatusForbidden: gcerrors.PermissionDenied,
		http.StatusNotFound: gcerrors.NotFound, http.StatusPreconditionFailed: gcerrors.FailedPrecondition, http.StatusTooManyRequests: gcerrors.ResourceExhausted,
	}[e.Code]
	if !known { // the zero value means no error
		return gcerrors.Unknown
	}
	return code
}

// Attributes implements driver.Bucket.
func (b *gcs) Attributes(ctx context.Context, key string) (*driver.Attributes, error) {
	o, err := b.objects.Get(b.bucket, key).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	return &driver.Attributes{ContentType: o.ContentType, ModTime: timeOf(o.Updated), Size: int64(o.Size)}, nil //nolint:gosec // no object is so large
}

// timeOf parses a time of the API, zero for none.
func timeOf(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// ListPaged implements driver.Bucket.
func (b *gcs) ListPaged(ctx context.Context, o *driver.ListOptions) (*driver.ListPage, error) {
	found, err := b.objects.List(b.bucket).Prefix(o.Prefix).Delimiter(o.Delimiter).PageToken(string(o.PageToken)).Context(ctx).Do()
	if err != nil {
		return nil, err
	}
	page := &driver.ListPage{NextPageToken: []byte(found.NextPageToken)}
	for _, item := range found.Items {
		page.Objects = append(page.Objects, &driver.ListObject{Key: item.Name, ModTime: timeOf(item.Updated), Size: int64(item.Size)}) //nolint:gosec // no object is so large
	}
	for _, folder := range found.Prefixes {
		page.Objects = append(page.Objects, &driver.ListObject{Key: folder, IsDir: true})
	}
	return page, nil
}

// NewRangeReader implements driver.Bucket for whole objects.
func (b *gcs) NewRangeReader(ctx context.Context, key string, offset, length int64, _ *driver.ReaderOptions) (driver.Reader, error) {
	if offset != 0 || length >= 0 {
		return nil, errors.ErrUnsupported
	}
	response, err := b.objects.Get(b.bucket, key).Context(ctx).Download() //nolint:bodyclose // the caller closes the reader
	if err != nil {
		return nil, err
	}
	modified, _ := http.ParseTime(response.Header.Get("Last-Modified"))
	return &gcsReader{response.Body, driver.ReaderAttributes{ModTime: modified, Size: response.ContentLength}}, nil
}

// gcsReader is the content of an object. The size is -1 if it isn't known.
type gcsReader struct {
	io.ReadCloser

	attributes driver.ReaderAttributes
}

// Attributes implements driver.Reader.
func (r *gcsReader) Attributes() *driver.ReaderAttributes { return &r.attributes }

// As implements driver.Reader.
func (*gcsReader) As(any) bool { return false }

// NewTypedWriter implements driver.Bucket. It sends the data in parts of 16 MiB, and keeps one in memory.
func (b *gcs) NewTypedWriter(ctx context.Context, key, contentType string, o *driver.WriterOptions) (driver.Writer, error) {
	from, to := io.Pipe()
	w := &gcsWriter{PipeWriter: to, ctx: ctx, done: make(chan error, 1)}
	insert := b.objects.Insert(b.bucket, &storage.Object{Name: key, ContentType: contentType}).Context(ctx)
	if o.IfNotExist {
		insert = insert.IfGenerationMatch(0)
	}
	go func() {
		_, err := insert.Media(from, googleapi.ContentType(contentType)).Do() // Media reads the first part
		_ = from.CloseWithError(err)
		w.done <- err
	}()
	return w, nil
}

// gcsWriter is an upload. The object appears when Close returns nil.
type gcsWriter struct {
	*io.PipeWriter

	ctx  context.Context //nolint:containedctx // of the upload: whether to discard it
	done chan error
}

// Close ends the upload, or discards it if the context has ended.
func (w *gcsWriter) Close() error {
	_ = w.CloseWithError(w.ctx.Err()) // nil is the end of the data
	if err := w.ctx.Err(); err != nil {
		return errors.Join(err, <-w.done)
	}
	return <-w.done
}

// Delete implements driver.Bucket.
func (b *gcs) Delete(ctx context.Context, key string) error {
	return b.objects.Delete(b.bucket, key).Context(ctx).Do()
}

// Copy implements driver.Bucket: nothing copies.
func (*gcs) Copy(context.Context, string, string, *driver.CopyOptions) error {
	return errors.ErrUnsupported
}

// SignedURL implements driver.Bucket: nothing signs.
func (*gcs) SignedURL(context.Context, string, *driver.SignedURLOptions) (string, error) {
	return "", errors.ErrUnsupported
}
