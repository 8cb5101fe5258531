package resp

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// reply is a reply as a client reads it.
type reply struct {
	mark  byte
	text  string  // of a scalar; of a verbatim text, what follows "txt:"
	items []reply // of a map, keys and values alternately
	null  bool
}

// readReply reads a reply of a server that is trusted.
func readReply(r *bufio.Reader) (reply, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return reply{}, err
	}
	line, ok := strings.CutSuffix(line, "\r\n")
	if !ok || line == "" {
		return reply{}, fmt.Errorf("line %q", line)
	}
	v := reply{mark: line[0], text: line[1:]}
	if v.mark == '_' {
		return reply{null: true}, nil
	}
	if !strings.ContainsRune("$=*~>%", rune(v.mark)) {
		return v, nil
	}
	n, err := strconv.Atoi(v.text)
	if err != nil || n < 0 {
		return reply{null: true}, err
	}
	switch v.mark {
	case '$', '=':
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil || string(b[n:]) != "\r\n" {
			return v, fmt.Errorf("string %q: %w", b, err)
		}
		v.text = string(b[:n])
		if v.mark == '=' {
			v.text = strings.TrimPrefix(v.text, "txt:")
		}
		return v, nil
	case '%':
		n *= 2
	}
	for range n {
		item, err := readReply(r)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
	return v, nil
}

func (v reply) String() string {
	switch {
	case v.null:
		return "null"
	case v.mark == '$' || v.mark == '=':
		return strconv.Quote(v.text)
	case strings.ContainsRune("*~>%", rune(v.mark)):
		items := make([]string, len(v.items))
		for i, item := range v.items {
			items[i] = item.String()
		}
		return string(v.mark) + "[" + strings.Join(items, ", ") + "]"
	}
	return string(v.mark) + v.text
}
