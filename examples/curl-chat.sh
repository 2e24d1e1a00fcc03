#!/bin/sh
# A conversation with a Mulligan server by curl alone. Start it with `mulligan serve`, then: URL=… TOKEN=… sh curl-chat.sh FOLDER
set -eu
folder=${1:-$PWD}
model=${MODEL:+,\"model\":\"$MODEL\"}
base=${BASE_URL:+,\"baseUrl\":\"$BASE_URL\"}

api() { curl --silent --show-error --fail-with-body -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@"; }
# Prints the value of a field of JSON, where its name comes first.
field() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p" | head -n 1; }
# Follows the session from an event on, until its turn ends or waits for an answer. Prints the id of that event, and what it says.
follow() {
  mkfifo "$pipe"
  curl --silent --no-buffer -H "Authorization: Bearer $TOKEN" "$URL/api/sessions/$id/events?after=$1" >"$pipe" &
  while IFS= read -r line; do
    case $line in
    'id: '*) last=${line#id: } ;;
    'data: '*'"type":"turn.ended"'*) printf '%s\n' "$last ended: $(printf '%s\n' "$line" | field answer)" && break ;;
    'data: '*'"type":"turn.waiting"'*) printf '%s\n' "$last waiting" && break ;;
    esac
  done <"$pipe"
  kill $!
  rm "$pipe"
}

pipe=$(mktemp -u)
id=$(api "$URL/api/sessions" -d "{\"cwd\":\"$folder\"$model$base}" | field id)
echo "session $id"

api "$URL/api/sessions/$id/turns" -d '{"prompt":"Write hello into hello.txt."}' >/dev/null
end=$(follow 0)
while [ "${end#* }" = waiting ]; do
  question=$(api "$URL/api/approvals?session=$id")
  echo "it asks: $(printf '%s\n' "$question" | field reason)"
  api "$URL/api/approvals/$(printf '%s\n' "$question" | sed 's/^{"approvals":\[{"id":"\([^"]*\)".*/\1/')" -d '{"answer":"once"}' >/dev/null
  end=$(follow "${end%% *}")
done
printf '%s\n' "${end#* }"

api "$URL/api/sessions/$id/turns" -d '{"prompt":"What did you write?"}' >/dev/null
end=$(follow "${end%% *}")
printf '%s\n' "${end#* }"
