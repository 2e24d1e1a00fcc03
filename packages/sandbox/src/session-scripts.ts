/** What a session does with files, in the words of any POSIX shell: containers bring their own tools. */

const NOT_THERE = 'exit 44'

/** Each gets the absolute path as `$1`. */
export const SCRIPTS = {
  /** `$2`: the first byte, counted from 1; `$3`: how many. */
  read: `[ -e "$1" ] || ${NOT_THERE}
[ -d "$1" ] && { echo "it is a directory" >&2; exit 1; }
tail -c "+$2" <"$1" | head -c "$3" | base64`,
  write: `[ -d "$1" ] && { echo "it is a directory" >&2; exit 1; }
mkdir -p -- "$(dirname -- "$1")" && cat >"$1"`,
  stat: `if [ -d "$1" ]; then echo "directory 0"
elif [ -f "$1" ]; then echo "file $(wc -c <"$1" | tr -d ' ')"
elif [ -e "$1" ]; then echo "other 0"
else ${NOT_THERE}; fi`,
  /** No name has a slash in it: `file/a.txt/directory/src/`. */
  list: `[ -e "$1" ] || ${NOT_THERE}
[ -d "$1" ] || { echo "it is not a directory" >&2; exit 1; }
cd -- "$1" || exit 1
for name in * .[!.]* ..?*; do
  if [ -L "$name" ]; then type=symlink
  elif [ -d "$name" ]; then type=directory
  elif [ -f "$name" ]; then type=file
  elif [ -e "$name" ]; then type=other
  else continue; fi
  printf '%s/%s/' "$type" "$name"
done`,
  remove: `[ -L "$1" ] || {
  [ -e "$1" ] || ${NOT_THERE}
  [ -d "$1" ] && { echo "it is a directory" >&2; exit 1; }
}
rm -f -- "$1"`,
} as const

export const readAt = (offset: number, count: number): readonly string[] => [String(offset + 1), String(count)]
