/** A small project, and everyday commands on it. */

/** It needs only node, git and the usual programs. */
export const PROJECT: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify(
    {
      name: 'app',
      version: '1.0.0',
      type: 'module',
      scripts: {
        test: 'node --test',
        'test:unit': 'node --test test/parse.test.js',
        build: 'node scripts/build.js',
        lint: 'node scripts/lint.js',
        format: 'node scripts/format.js',
        start: 'node src/index.js',
      },
      dependencies: {},
    },
    null,
    2,
  )}\n`,
  'packages/core/package.json': '{ "name": "core", "version": "0.1.0" }\n',
  'tsconfig.json': '{ "compilerOptions": { "target": "es2022", "strict": true } }\n',
  'src/parse.js': 'export const parse = (text) => text.split(",").map((part) => part.trim())\n',
  'src/index.js': "import { parse } from './parse.js'\n\n// TODO: read stdin\nconsole.log(parse('a, b').length)\n",
  'src/main.c': '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n',
  'test/parse.test.js':
    "import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { parse } from '../src/parse.js'\n\ntest('parts', () => assert.deepEqual(parse('a, b'), ['a', 'b']))\n",
  'scripts/build.js':
    "import { cpSync, mkdirSync } from 'node:fs'\nmkdirSync('dist', { recursive: true })\ncpSync('src/parse.js', 'dist/bundle.js')\nconsole.log('built')\n",
  'scripts/lint.js':
    "import { readdirSync, readFileSync } from 'node:fs'\nconst bad = readdirSync('src').filter((name) => readFileSync('src/' + name, 'utf8').includes('\\t'))\nconsole.log(bad.length, 'problems')\nprocess.exitCode = bad.length > 0 ? 1 : 0\n",
  'scripts/format.js':
    "import { readdirSync, readFileSync, writeFileSync } from 'node:fs'\nfor (const name of readdirSync('src')) writeFileSync('src/' + name, `${readFileSync('src/' + name, 'utf8').trimEnd()}\\n`)\n",
  Makefile:
    'all: build/app\n\nbuild/app: src/main.c\n\tmkdir -p build\n\tcp src/main.c build/app\n\ntest:\n\t@echo tested\n\nclean:\n\trm -rf build\n',
  'README.md': '# App\n\n## Use\n\nnpm start\n',
  'docs/guide.md': '# Guide\n\n## First\n\ninstall it\n',
  'data/sales.csv': 'name,city,amount\na,Rome,3\nb,Oslo,5\n',
  'data.csv': 'name,amount\na,3\nb,5\n',
  'names.txt': 'bob\nann\nbob\n',
  'logs/app.log': 'ok\nerror: one\nok\n',
  'config/default.yml': 'server:\n  timeout: 3\n',
  '.gitignore': 'dist/\nbuild/\nnode_modules/\nlogs/\n*.tmp\n',
  '.env.example': 'TOKEN=\n',
}

/** Commands that change nothing, or only git-ignored files, so they run without approval. */
export const QUIET: readonly string[] = [
  // Build, lint, test.
  ...['npm test', 'npm run test:unit', 'npm run build', 'npm run lint', 'npm run -s lint && npm test', 'npm run format', 'npm start'],
  ...['node --test', 'node --test --test-reporter=spec test/', 'node --check src/parse.js', 'node src/index.js', 'node scripts/build.js'],
  ...[
    'make',
    'make -j2 all',
    'make test',
    'make -n',
    'make clean all',
    'npx tsc --noEmit',
    'npx --no-install eslint src',
    'tsc -p . --noEmit',
  ],
  ...[
    'CI=1 npm test 2>&1 | tail -20',
    'npm test -- --test-name-pattern=parts',
    'time npm run build',
    'npm run build && cat dist/bundle.js',
  ],
  ...[
    'npm test > build.tmp 2>&1; tail -5 build.tmp',
    'mkdir -p build && gcc -o build/app src/main.c && ./build/app',
    'npm pkg get version',
  ],
  ...[
    'python3 -m py_compile /dev/null',
    "python3 -c \"import json; print(json.load(open('package.json'))['name'])\"",
    'timeout 20 npm test',
  ],
  // Search.
  ...[
    'grep -rn "TODO" src | sort',
    'grep -rln parse --include=*.js . | xargs wc -l',
    "grep -c '' src/*.js | awk -F: '{ s += $2 } END { print s }'",
  ],
  ...['find . -name "*.js" -not -path "./node_modules/*" -exec wc -l {} +', "find src -type f -exec sh -c 'echo $1; head -1 $1' _ {} \\;"],
  ...['find . -name "*.js" -print0 | xargs -0 grep -l import | sort', 'find . -newer package.json -type f | head', 'ls -R | grep -c js'],
  ...["find . -path ./.git -prune -o -type f -printf '%s %p\\n' | sort -rn | head -5", 'xargs -n1 basename < <(find src -type f)'],
  // Loops and pipelines.
  ...[
    'for f in src/*.js; do echo "== $f"; wc -l < "$f"; done',
    'for f in $(git ls-files "*.js"); do node --check "$f" || echo "bad $f"; done',
  ],
  ...['while read -r name; do echo "hi $name"; done < names.txt', 'cat names.txt | while read -r n; do grep -c "$n" names.txt; done'],
  ...[
    'for i in $(seq 1 3); do echo $((i * i)); done',
    'i=0; until [ $i -ge 3 ]; do i=$((i + 1)); done; echo $i',
    'sort names.txt | uniq -c | sort -rn',
  ],
  ...[
    "awk -F, 'NR > 1 { s[$2] += $3 } END { for (c in s) print c, s[c] }' data/sales.csv",
    "sed -n '1,2p' README.md",
    "sed -n '/First/,$p' docs/guide.md",
  ],
  ...[
    'jq -r \'.scripts | to_entries[] | "\\(.key): \\(.value)"\' package.json',
    "jq -n '[1, 2] | add'",
    "tr ',' '\\n' < data.csv | paste -sd' '",
  ],
  ...[
    'diff <(sort names.txt) <(sort -u names.txt)',
    'comm -12 <(sort -u names.txt) <(printf "ann\\n")',
    'cut -d, -f2 data.csv | tail -n +2 | paste -sd+ | bc',
  ],
  ...[
    'f() { wc -l "$1"; }; f README.md',
    'shopt -s globstar; ls **/*.md',
    'set -euo pipefail; ls src | tee /dev/stderr | wc -l',
    'echo {a,b}{1,2}',
  ],
  ...[
    'cat <<E | sort\nb $(cat names.txt | wc -l)\na\nE',
    "python3 - <<'E'\nprint(sum(range(10)))\nE",
    'node --input-type=module <<E\nconsole.log(1 + 1)\nE',
  ],
  ...[
    'node -e \'console.log(require("fs").readdirSync("src").length)\'',
    "perl -ne 'print if /error/' logs/app.log",
    "awk 'length > 20' src/*.js | head",
  ],
  ...[
    'x=$(mktemp); sort names.txt > "$x"; cat "$x"; rm "$x"',
    'cd "$(mktemp -d)" && echo hi > a && cat a',
    'cp -r src /tmp/copy && ls /tmp/copy',
    'tar cf - src | tar tf -',
  ],
  ...[
    'case "$(uname)" in Linux) echo linux;; esac',
    '[ -d dist ] || echo "not built"',
    'test -f Makefile && grep -E "^[a-z]+:" Makefile',
    'mkdir -p dist && echo x > dist/x && ls dist',
  ],
  ...[
    "ls -la src | awk '{ print $5, $9 }'",
    'wc -l src/* | sort -n | tail -1',
    'head -c 20 README.md | xxd',
    'grep -rn "import" src | cut -d: -f1 | uniq -c',
  ],
  ...[
    '(cd packages/core && jq -r .name package.json)',
    'pushd src > /dev/null && ls && popd > /dev/null',
    'printf "%s\\n" src/*',
    'sha256sum src/* | cut -c1-8',
  ],
  ...[
    'sed "s/App/X/" README.md | diff README.md - || true',
    'python3 -c "print(1)" && node -p 1',
    'echo done | tee /tmp/out; cat /tmp/out',
    'env | grep -c PATH',
  ],
  // Git.
  ...[
    'git status',
    'git status -sb',
    'git diff',
    'git diff HEAD --stat',
    'git log --oneline | head',
    'git log -p -1',
    'git blame README.md',
    'git show HEAD:package.json',
  ],
  ...[
    'git branch -vv',
    'git stash list',
    'git ls-files | xargs wc -l',
    'git grep -n parse',
    'git log --format=%an | sort | uniq -c',
    'git rev-list --count HEAD',
  ],
  ...[
    'git diff --no-index README.md docs/guide.md',
    'git check-ignore -v dist/x',
    'git describe --always --dirty',
    'git cat-file -p HEAD',
    'git archive HEAD | tar t | head',
  ],
]

/** Commands that change files, which need approval afterwards. */
export const CHANGING: readonly string[] = [
  ...[
    'echo x >> README.md',
    'sed -i s/App/Application/ README.md',
    'mv src/parse.js src/split.js',
    'rm -r docs',
    'npm pkg set version=2.0.0',
    'touch new.txt',
  ],
  ...[
    'for f in src/*.js; do sed -i "s/parse/split/g" "$f"; done',
    'cat > notes.md <<E\n# Notes\nE',
    'chmod +x scripts/build.js',
    'ln -s README.md link',
    'git tag v1',
  ],
  ...[
    'git add -A; git commit -qm two --allow-empty',
    'git checkout -q -b feature',
    'git mv README.md READ.md',
    'mkdir empty',
    'npm version patch --no-git-tag-version',
  ],
]
