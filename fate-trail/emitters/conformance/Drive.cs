// Prints what `FateTrail.cs` writes for each case of a file of golden lines: `mono drive.exe lines.txt`.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using FateTrail;

static class Drive
{
    static Trail trail;
    static string[] stage;
    static readonly List<Detail> details = new List<Detail>();

    static string Unescape(string field)
    {
        return Regex.Replace(field, @"\\[tn\\]", found => found.Value == @"\t" ? "\t" : found.Value == @"\n" ? "\n" : "\\");
    }

    /// <summary>Details follow their stage, so a stage is stamped when the next step comes.</summary>
    static void Flush()
    {
        if (stage != null)
        {
            trail.StampAt(stage[1] == "?" ? (long?)null : long.Parse(stage[1]), stage[2], stage[3], details.ToArray());
        }
        stage = null;
        details.Clear();
    }

    static void Main(string[] args)
    {
        string id = null, verdict = null;
        foreach (var line in File.ReadLines(args[0]).Where(line => line != "" && line[0] != '#'))
        {
            var fields = line.Split('\t').Select(Unescape).ToArray();
            switch (fields[0])
            {
                case "detail":
                    details.Add(fields.Length > 3 ? Detail.List(fields[1], fields.Skip(2)) : Detail.Of(fields[1], fields[2]));
                    continue;
                case "atleast":
                    details.Add(Detail.AtLeast(fields[1], long.Parse(fields[2])));
                    continue;
            }
            Flush();
            switch (fields[0])
            {
                case "id":
                    id = fields[1];
                    verdict = null;
                    trail = new Trail(id, null);
                    break;
                case "at":
                    trail = new Trail(id, long.Parse(fields[1]));
                    break;
                case "stage":
                    stage = fields;
                    break;
                case "reply":
                    trail.Reply(int.Parse(fields[1]));
                    break;
                case "verdict":
                    verdict = fields[1];
                    break;
                case "line":
                    Console.WriteLine(trail.Line(verdict));
                    break;
            }
        }
        var live = new Trail("live");
        live.Stamp("POSTED", "orders");
        live.StampUntimed("HANDLER_EXIT", "orders", Detail.Of("state", "processed"));
        Console.WriteLine(live);
    }
}
