package parquetfile

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// arrowSchemaKey is where Arrow's writers store the schema that they were given.
const arrowSchemaKey = "ARROW:schema"

// storedArrowSchema is the Arrow schema in a file's metadata, nil if it has none that can be read.
func storedArrowSchema(top *thriftValue) *arrow.Schema {
	if text := keyValue(top, arrowSchemaKey); text != "" {
		return decodeArrowSchema(text)
	}
	return nil
}

func decodeArrowSchema(text string) (schema *arrow.Schema) {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !wholeMessage(raw) {
		return nil
	}
	err = guard(func() error {
		r, err := ipc.NewReader(bytes.NewReader(raw))
		if err != nil {
			return err
		}
		defer r.Release()
		schema = r.Schema()
		return nil
	})
	if err != nil {
		return nil
	}
	return schema
}

// wholeMessage tells whether a message of Arrow's has the bytes that it claims, which its reader allocates.
func wholeMessage(raw []byte) bool {
	if len(raw) >= 8 && binary.LittleEndian.Uint32(raw) == 0xffffffff {
		raw = raw[4:]
	}
	return len(raw) >= 4 && uint64(binary.LittleEndian.Uint32(raw)) <= uint64(len(raw)-4)
}

// encodeArrowSchema is the value for arrowSchemaKey.
func encodeArrowSchema(schema *arrow.Schema) (text string, err error) {
	err = guard(func() error {
		var b bytes.Buffer
		w := ipc.NewWriter(&b, ipc.WithSchema(schema))
		if err := w.Close(); err != nil {
			return err
		}
		text = base64.StdEncoding.EncodeToString(b.Bytes())
		return nil
	})
	return text, err
}
