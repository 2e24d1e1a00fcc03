/** `npm run packages`: packs every package as it would be published, and checks the result. Prints problems and exits with 1. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wrongContents, wrongVersions } from './packages/contents.ts'
import { lintFaults } from './packages/linters.ts'
import { packAll, ROOT } from './packages/pack.ts'

const into = mkdtempSync(join(tmpdir(), 'mulligan-packages-'))
try {
  const packages = await packAll(into)
  const license = readFileSync(join(ROOT, 'LICENSE'), 'utf8')
  let faults = 0
  for (const packed of packages) {
    const folder = join(ROOT, 'packages', packed.name.replace(/^@mulligan\//, '').replace(/^mulligan$/, 'cli'))
    const hasSource = (path: string): boolean => existsSync(join(folder, path))
    const wrong = [...wrongContents(packed, { license, root: ROOT.replace(/\/$/, ''), hasSource }), ...(await lintFaults(packed))]
    for (const fault of wrong) console.error(`packages: ${packed.name}: ${fault}`)
    faults += wrong.length
    const kilobytes = [packed.size, packed.unpackedSize].map((bytes) => `${Math.round(bytes / 1000)} kB`)
    console.log(`${packed.name.padEnd(18)} ${packed.files.size} files, ${kilobytes[0]}, unpacked ${kilobytes[1]}`)
  }
  const versions = wrongVersions(packages.map(({ manifest }) => manifest))
  for (const fault of versions) console.error(`packages: ${fault}`)
  process.exitCode = faults + versions.length > 0 ? 1 : 0
} finally {
  rmSync(into, { recursive: true, force: true })
}
