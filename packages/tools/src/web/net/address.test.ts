import fc from 'fast-check'
import ip from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { notPublic } from './guard.ts'

describe('an address of the public internet', () => {
  test.each([
    '1.1.1.1',
    '93.184.216.34',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
    '2002:101:101::1',
  ])('%s', (address) => expect(notPublic(address)).toBeUndefined())
})

describe('not of the public internet', () => {
  test.each([
    ['127.0.0.1', 'a loopback address'],
    ['127.255.255.254', 'a loopback address'],
    ['0.0.0.0', 'this machine itself'],
    ['0.1.2.3', 'this machine itself'],
    ['10.0.0.1', 'a private address'],
    ['172.16.0.1', 'a private address'],
    ['192.168.255.1', 'a private address'],
    ['169.254.169.254', 'a link-local address'],
    ['100.100.100.200', "an address of a provider's inner network"],
    ['168.63.129.16', 'a metadata address'],
    ['::ffff:168.63.129.16', 'a metadata address'],
    ['192.0.0.192', 'a reserved address'],
    ['198.18.0.1', 'a reserved address'],
    ['203.0.113.1', 'a reserved address'],
    ['224.0.0.1', 'a multicast address'],
    ['240.0.0.1', 'a reserved address'],
    ['255.255.255.255', 'a broadcast address'],
    ['::', 'this machine itself'],
    ['::1', 'a loopback address'],
    ['::127.0.0.1', 'a reserved address'],
    ['::8.8.8.8', 'a reserved address'],
    ['::ffff:127.0.0.1', 'a loopback address'],
    ['::ffff:0:127.0.0.1', 'a reserved address'],
    ['64:ff9b::7f00:1', 'a loopback address'],
    ['64:ff9b::a9fe:a9fe', 'a link-local address'],
    ['64:ff9b:1::101:101', 'a reserved address'],
    ['2002:7f00:1::', 'a loopback address'],
    ['2002:c0a8:101::1', 'a private address'],
    ['2001:0:101:101::8056:fefe', 'a loopback address'],
    ['2001:0:a00:1::fefe:fefe', 'a private address'],
    ['fe80::1', 'a link-local address'],
    ['fe80::1%eth0', 'a link-local address'],
    ['fec0::1', 'a reserved address'],
    ['fc00::1', 'a private address'],
    ['fd00:ec2::254', 'a private address'],
    ['ff02::1', 'a multicast address'],
    ['2001:db8::1', 'a reserved address'],
    ['3fff::1', 'a reserved address'],
    ['4000::1', 'a reserved address'],
    ['', 'no address'],
    ['example.com', 'no address'],
  ])('%s is %s', (address, why) => expect(notPublic(address)).toBe(why))
})

describe('whatever carries an IPv4 address is what that one is', () => {
  const four = fc.oneof(
    fc.ipV4(),
    fc
      .tuple(fc.constantFrom('10', '127', '169.254', '172.16', '192.168', '100.64', '0', '224', '8.8'), fc.ipV4())
      .map(([head, tail]) => [...head.split('.'), ...tail.split('.')].slice(0, 4).join('.')),
  )
  const pair = (bytes: readonly number[]): string =>
    `${(((bytes[0] ?? 0) << 8) | (bytes[1] ?? 0)).toString(16)}:${(((bytes[2] ?? 0) << 8) | (bytes[3] ?? 0)).toString(16)}`

  test('public is the range "unicast", and no other', () => {
    fc.assert(
      fc.property(four, (address) => {
        fc.pre(address !== '168.63.129.16')
        expect(notPublic(address) === undefined).toBe(ip.IPv4.parse(address).range() === 'unicast')
      }),
      { numRuns: 2000 },
    )
  })

  test('mapped, NAT64, 6to4, Teredo', () => {
    fc.assert(
      fc.property(four, (address) => {
        const bytes = ip.IPv4.parse(address).toByteArray()
        const hex = pair(bytes)
        const inverted = pair(bytes.map((byte) => byte ^ 0xff))
        const expected = notPublic(address)
        for (const six of [`::ffff:${address}`, `::ffff:${hex}`, `64:ff9b::${hex}`, `2002:${hex}::1`, `2001:0:808:808:0:0:${inverted}`])
          expect([six, notPublic(six)]).toEqual([six, expected])
      }),
      { numRuns: 1000 },
    )
  })

  test('of IPv6 nothing outside 2000::/3', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const parsed = ip.process(address)
        fc.pre(parsed.kind() === 'ipv6' && !['rfc6052', '6to4', 'teredo'].includes(parsed.range()))
        const global = ((parsed.toByteArray()[0] ?? 0) & 0xe0) === 0x20
        expect(notPublic(address) === undefined).toBe(global && parsed.range() === 'unicast')
      }),
      { numRuns: 2000 },
    )
  })
})
